"""What each signal of the cards' language is called in reports: [English, Chinese].

{w} is its window, {v} what is in it ("values", "absolute values"), {x} another part in words, {key} a name in quotes.
"""

from __future__ import annotations

Both = tuple[str, str]

# Of a metric, over a window.
WINDOWED: dict[str, Both] = {
    "med": ("median of the last {w} {v}", "最近 {w} 个{v}的中位数"),
    "mean": ("mean of the last {w} {v}", "最近 {w} 个{v}的均值"),
    "min": ("smallest of the last {w} {v}", "最近 {w} 个{v}中的最小值"),
    "max": ("largest of the last {w} {v}", "最近 {w} 个{v}中的最大值"),
    "sum": ("sum of the last {w} {v}", "最近 {w} 个{v}之和"),
    "std": ("standard deviation of the last {w} {v}", "最近 {w} 个{v}的标准差"),
    "trend": ("change over the last {w} {v}", "最近 {w} 个{v}的变化"),
    "slope": ("relative change over the last {w} {v}", "最近 {w} 个{v}的相对变化"),
    "r2": ("straightness of the last {w} {v} (r²)", "最近 {w} 个{v}的线性程度（r²）"),
    "noise": ("noise of the last {w} {v}", "最近 {w} 个{v}的噪声"),
    "rel": ("median of the last {w} {v} over the baseline", "最近 {w} 个{v}的中位数与基线之比"),
    "z": ("distance from the {w} {v} before", "与此前 {w} 个{v}的偏离"),
    "drop": ("fall of the last {w} {v} below the best", "最近 {w} 个{v}低于最佳值的幅度"),
    "prev": ("value {w} values earlier", "{w} 个值之前的值"),
    "first": ("median of the first {w} {v}", "最初 {w} 个{v}的中位数"),
    "best": ("best mean of {w} {v} so far", "迄今 {w} 个{v}的最佳均值"),
    "nonfinite": ("number of non-finite values among the last {w}", "最近 {w} 个值中非有限值的个数"),
}
DEFAULT_WINDOW = {"prev": 1, "first": 1, "best": 10, "nonfinite": 1, "z": 50, "noise": 50}
OF_ONE: dict[str, Both] = {
    "prev": ("value before", "前一个值"),
    "first": ("first value", "首个值"),
    "best": ("best value so far", "迄今最佳值"),
    "nonfinite": ("number of non-finite values", "非有限值的个数"),
}
SO_FAR: dict[str, Both] = {
    "med": ("median of all {v} so far", "迄今全部{v}的中位数"),
    "mean": ("mean of all {v} so far", "迄今全部{v}的均值"),
    "min": ("smallest of all {v} so far", "迄今最小的{v}"),
    "max": ("largest of all {v} so far", "迄今最大的{v}"),
    "sum": ("sum of all {v} so far", "迄今全部{v}之和"),
    "std": ("standard deviation of all {v} so far", "迄今全部{v}的标准差"),
}
# Of a metric, without a window.
PLAIN: dict[str, Both] = {
    "peak": ("largest of all {v} so far", "迄今最大的{v}"),
    "base": ("baseline", "基线"),
    "count": ("number of {v} so far", "已有{v}的个数"),
    "since_best": ("number of values since the best one", "最佳值之后的值数"),
    "se": ("standard error", "标准误"),
    "precision": ("printed precision", "打印精度"),
}
# Of the run.
BARE: dict[str, Both] = {
    "step": ("step", "步"),
    "total": ("number of planned steps", "计划步数"),
    "progress": ("share of the planned steps done", "已完成的计划步数占比"),
    "rows": ("number of steps so far", "已有步数"),
    "evals": ("number of validations so far", "已有验证次数"),
    "boundary": ("number of steps since the last restart or swap", "上次重启或切换以来的步数"),
    "outcome": ("outcome", "结果指标"),
    "U": ("number of updates a batch", "每批更新次数"),
    "n": ("number of samples a prompt", "每题采样数"),
    "algorithm": ("algorithm", "算法"),
    "framework": ("framework", "框架"),
}
# Of a name in quotes that is no metric.
NAMED: dict[str, Both] = {
    "cfg": ("{key}", "{key}"),
    "hw": ("{key} of this machine", "本机的 {key}"),
    "data": ("{key} of the data", "数据的 {key}"),
    "fact": ("the run's {key}", "本次训练的 {key}"),
    "share": ("share of the step spent in {key}", "{key} 占步时的比例"),
}
# Of a comparison.
CLAIMED: dict[str, Both] = {
    "frac": ("share of the last {w} values at which {x}", "最近 {w} 个值中“{x}”所占的比例"),
    "streak": ("number of values in a row at which {x}", "连续出现“{x}”的个数"),
    "first_seen": ("first step at which {x}", "首次出现“{x}”的步"),
}
# What is true or not, each with its denial.
TRUTHS: dict[str, tuple[Both, Both]] = {
    "outcome_fell": (
        ("the outcome fell below its best, beyond its noise", "结果指标低于其最佳值，超出噪声"),
        ("the outcome did not fall below its best beyond its noise", "结果指标没有超出噪声地低于其最佳值"),
    ),
    "outcome_flat": (
        ("the outcome neither rose nor fell over {w} values", "结果指标在 {w} 个值内既未上升也未下降"),
        ("the outcome moved over {w} values", "结果指标在 {w} 个值内有变化"),
    ),
    "outcome_rose": (
        ("the outcome rose over {w} values", "结果指标在 {w} 个值内上升"),
        ("the outcome did not rise over {w} values", "结果指标在 {w} 个值内没有上升"),
    ),
    "absent": (("{x} was never logged", "{x} 从未记录"), ("{x} was logged", "{x} 有记录")),
    "set": (("{key} is set by hand", "{key} 为人工设置"), ("{key} is not set by hand", "{key} 非人工设置")),
}
# Claims of the config: among some words, switched on, and how claims are joined; each with its denial or `or`.
AMONG: tuple[Both, Both] = (("{x} is one of {w}", "{x} 是 {w} 之一"), ("{x} is none of {w}", "{x} 不是 {w} 之一"))
SWITCHED: tuple[Both, Both] = (("{x} is on", "{x} 打开"), ("{x} is off", "{x} 未打开"))
JOINED: tuple[Both, Both] = ((" and ", "，且 "), (" or ", "，或 "))
SIDES: dict[str, Both] = {
    ">": ("above", "高于"),
    ">=": ("at or above", "不低于"),
    "<": ("below", "低于"),
    "<=": ("at or below", "不高于"),
    "==": ("equal to", "等于"),
    "!=": ("other than", "不等于"),
}
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
# {a} and {b} are both sides.
ARITHMETIC: dict[str, Both] = {
    "-": ("{a} minus {b}", "{a}减去{b}"),
    "+": ("{a} plus {b}", "{a}加{b}"),
    "*": ("{a} times {b}", "{a}乘以{b}"),
    "/": ("{a} over {b}", "{a}与{b}之比"),
}
# Words that say how long, since when or whether something was logged: they open the way for a rule, no evidence.
GUARDS = (
    "count",
    "rows",
    "step",
    "evals",
    "total",
    "progress",
    "boundary",
    "precision",
    "absent",
    "first_seen",
    "U",
    "n",
)
