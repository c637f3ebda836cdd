"""Pieces that a robot file should not hold, to stand where a value, a key or any bytes stand."""

NUMBERS = [
    "0", "1", "-1", "1.5", "0.25", "2e3", "-0", "+1", ".5", "5.", "012", "1e308", "5e-324", "1e-308", "-1e308", "1e999",
    "-1e999", "1e-999", "1e99999", "-1e-99999", "0x1F", "0o17", "0b1", "-0x1", "0xFFFFFFFFFFFFFFFFFFFFFFFF", "1_000",
    "1e", "1.5.2", ".", "-", "e5", ".inf", "-.inf", ".nan", "nan", "inf", "1,5", "1000000000", "64", "65",
    "99999999999999999999", "NaN", "1d5", "1e+", "180", "720", "1e5f", "12:30", "2021-01-01", "1e16", "1e200", "-1e200",
    "1e-200", "1e150", "1e-160", "\u0663", "\uff11", "\xbd", "\xb2", "\u4e00", "9" * 309, "9" * 400,
    "0." + "0" * 400 + "1", "1" * 1001, "1" * 5000, "0" * 4000 + "1",
]  # fmt: skip

EXTREMES = ["0", "-1", "1e-12", "1e12", "1e-100", "1e100", "1e-160", "1e160", "5e-324", "1e-308", "1e308", "-1e308"]

EXPRESSIONS = [
    "pi/2", "-pi/2", "90*deg", "sqrt(2)*EI", "m/2", "E*I/L", "9**9**9", "9**9**9**9", "2**64**64", "10**400",
    "(-1)**0.5", "(-8)**(1/3)", "0**-1", "0**0", "0.0**0.0", "1/0", "0/0", "1/(1-1)", "sqrt(-1)", "exp(1000)",
    "exp(-1e9)", "exp(exp(exp(9)))", "tan(pi/2)", "sin(1e300)", "cos(9**64)", "sqrt(1e-320)", "sin", "sin()",
    "sin(1,2)", "sin(x=1)", "sin(*pi)", "sin(**pi)", "sin(sin)", "sin(1)(2)", "pi(2)", "deg(3)", "abs(1)", "pow(2,3)",
    "().__class__", "pi.real", "(1).real", "1.real", "__import__('os').system('false')", "lambda:1", "(lambda:1)()",
    "f'{1}'", "(x:=1)", "x=1", "[1][0]", "{1}", "{1:2}", "1<2", "1//2", "7%3", "~1", "1|2", "1@2", "1<<99", "1!=2",
    "'a'*9", "b''", "1j", "1_0*2", "0x10*2", "2pi", "1+", "+", "**", "**2", "#", ";", "1;2", "EI", "undefined", "E",
    "I", "S", "N", "Q", "beta", "gamma", "None", "True", "Ellipsis", "...", "print(1)", "exit()", "(1/3)**64",
    "((1/3)**64)**64", "1e300*1e300", "1e-300*1e-300", "1e308+1e308", "2**0.5", "pi**pi", "pi**-64", "deg**64",
    "7**-7**7", "(2**64)**(2**64)", "1-1e-17", "--1", "+-+-1", "2**-2**-2", "(1,)", "(1", "(1))", ")(", "*1", "x[0]",
    "x[:]", "1if(1)else(2)", "True+1", "await", "yield", "not(1)", "1and(2)", "-1**0.5", "pi\xb2", "\uff50\uff49",
    "\u0440i", "\u03c0", "1\u22122", "1\u200b", "\u202e1", "1\xa0+1", "e\u0301", "1\u20281", "\uff131+1", "a b", "1 2",
    "not 1", "1 if 1 else 2", "1 is 1", "lambda x: x", "[x for x in y]", "1\n+1", "1 \\\n + 1", "1\t+\t1",
    "-" * 200 + "1", "(" * 120 + "1" + ")" * 120, "(" * 400 + "1" + ")" * 400, "+".join(["1"] * 450),
    "*".join(["pi"] * 300), "sin(" * 90 + "1" + ")" * 90, "sin(" * 180 + "1" + ")" * 180, "**".join(["2"] * 200),
    "-".join(["1e-300"] * 100), "/".join(["3"] * 400), "x" * 999, "x" * 1001, "*".join(["(1/7)**64"] * 90),
    "exp(" * 100 + "1" + ")" * 100, "(1/3+pi)**2**5", "x" * 200_000,
]  # fmt: skip

WORDS = [
    "base", "endpoint", "t", "order", "q1", "q2", "q1_dot", "upper", "forearm", "boom", "torso", "theta", "arm", "a.b",
    "a,b", "..", ".", "/etc/passwd", "/dev/zero", "../table.csv", "table.csv", "table.csv/", "C:\\x", "\\\\host\\x",
    "nul", "CON", "~", "~root", "$HOME", "standard", "modified", "revolute", "prismatic", "fixed", "clamped-free",
    "clamped-mass", "polynomial", "legendre", "craig-bampton", "cycloidal", "spin-up", "sinusoid", "table",
    "rigid-inverse-dynamics", "yes", "no", "on", "off", "true", "false", "null", "NULL", "True", "<<", "=", "_",
    "__proto__", "__class__", "___", "-a", "0", "1a", "1e5", "pi", "deg", "sin", "lambda", "None", "class", "\xe9",
    "e\u0301", "\u212b", "q\u0661", "\u2167", "\u01c6", "\xdf", "\ufb01", "\u540d", "\U0001f600", "q\u200d", "q\xad",
    "\uff41", "\u1d43", "\u04301", "q\xba", "\ufeff", "x\x85y", "x\u2028y", "\u202eabc", "", " ", " a ", "a b",
    "\x1b[31mred", "a\x00b", "a\nb", "\ud83d\ude00", "%s%n", "{0}", "a" * 64, "a" * 65, "a" * 3000,
]  # fmt: skip

COLLECTIONS = [
    "[]", "{}", "[[]]", "[{}]", "[0,0]", "[0,0,0]", "[0,0,0,0]", "[[0,0,0]]", "[1,[2,[3]]]", "{a:1}", "{type:table}",
    "{file:table.csv}", "{ratio:[]}", "*a", "&a", "&a[*a]", "*x", "!!python/object/apply:os.system", "!", "!!int",
    "!!str", "!!binary", "!<x>", "|", ">", "|-", "?", "@", "`", "%", "--", "---", "...", "%YAML", "[", "]", "{", "}",
    ",", ":", "[[", "]]", "{{", "''", '""', '"\\x41"', '"\\u0000"', '"\\ud800"', '\'"\'', "{a: 1}", "&a 1", "&a [*a]",
    "{<<: *a}", "!!python/object/apply:os.system ['false']", "!!float 1", "{? [a] : 1}", "{type: revolute}",
    "{type: table, file: ../x.csv}", "{v: 64, w: 64, torsion: 64}", "{type: table, file: table.csv}",
    "{file: nosuch.csv}", "- 1", "a: 1", "{a: 1, a: 2}", "{1: 2}", "|\n  x", "[" * 40 + "]" * 40, "[" * 2000,
    "{a: " * 40 + "}" * 40,
]  # fmt: skip

SNIPPETS = [
    b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x00", b"\x1b[2J",
    b"\x7f", b"\r", b"\n", b"\t", b"\n---\n", b"\n...\n", b"\n%YAML 1.2\n---\n", b"&a ", b"*a", b"<<: *a",
    b"!!python/name:os.system ", b"# ", b" #", b": ", b":", b"- ", b"? ", b"[", b"]", b"{", b"}", b"'", b'"', b"|\n",
    b">\n", b", ", b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"\xe2\x80\x8b", b"\xcc\x81", b"1e999", b"**",
    b"((((", b"\xef\xbc\x91", b"\xf0\x9f\x98\x80", b"9" * 500,
]  # fmt: skip
