"""Single calls compiled alone by Dynamo, a line each: `target :: code` or `target :: setup :: code`.

The code stands between two tensor operations of a compiled function; where it is an expression, it is also probed with its
value returned (`target[returned]`, kept where that makes a difference). Names of one letter are tensors handed in (see
`operands`); capital names and modules are globals; `setup` runs before, outside. A bracket after a target names the
circumstance its verdict depends on.
"""

from __future__ import annotations

import ast
import linecache
import sys
import types
from collections.abc import Callable
from functools import cache
from typing import Any

# the tensors that probes name, as user code makes them (`operands` has the values)
OPERANDS = {
    "x": "torch.randn(4, 4)",
    "y": "torch.randn(4, 4)",
    "v": "torch.randn(4)",
    "i": "torch.tensor([0, 1, 2, 1])",
    "m": "torch.randn(4, 4) > 0",
    "w": "torch.tensor([True, False, True, False])",
    "s": "torch.tensor(2.5)",
    "n": "torch.tensor(3)",
    "k": "torch.tensor([1, 2, 1])",
    "c": "torch.randn(4, 4, dtype=torch.complex64)",
    "g": "torch.randn(4, 4, requires_grad=True)",
}
BLOCKS: dict[str, str] = {}

BLOCKS["clock and random numbers"] = """
time.time :: time.time()
time.perf_counter :: time.perf_counter()
time.monotonic :: time.monotonic()
time.process_time :: time.process_time()
time.thread_time :: time.thread_time()
time.time_ns :: time.time_ns()
time.perf_counter_ns :: time.perf_counter_ns()
time.monotonic_ns :: time.monotonic_ns()
time.sleep :: time.sleep(0)
time.strftime :: time.strftime("%Y")
time.localtime :: time.localtime()
time.gmtime :: time.gmtime(0)
time.ctime :: time.ctime(0)
datetime.datetime.now :: datetime.datetime.now()
datetime.datetime.utcnow :: datetime.datetime.utcnow()
datetime.datetime :: datetime.datetime(2024, 1, 1)
datetime.datetime.isoformat :: T = datetime.datetime(2024, 1, 1) :: T.isoformat()
datetime.date.today :: datetime.date.today()
datetime.timedelta :: datetime.timedelta(seconds=3)
datetime.timedelta.total_seconds :: T = datetime.timedelta(seconds=3) :: T.total_seconds()
random.random :: random.random()
random.randint :: random.randint(1, 3)
random.randrange :: random.randrange(3)
random.uniform :: random.uniform(0, 1)
random.gauss :: random.gauss(0, 1)
random.normalvariate :: random.normalvariate(0, 1)
random.betavariate :: random.betavariate(1, 1)
random.expovariate :: random.expovariate(1)
random.triangular :: random.triangular(0, 1)
random.choice :: random.choice([1, 2, 3])
random.choices :: random.choices([1, 2, 3], k=2)
random.sample :: random.sample([1, 2, 3], 2)
random.shuffle :: L = [1, 2, 3] :: random.shuffle(L)
random.shuffle[local list] :: l = [1, 2, 3]; random.shuffle(l)
random.seed :: random.seed(0)
random.getstate :: random.getstate()
random.setstate :: T = random.getstate() :: random.setstate(T)
random.getrandbits :: random.getrandbits(8)
random.Random :: random.Random(0)
random.Random.random :: R = random.Random(0) :: R.random()
random.Random.randint :: R = random.Random(0) :: R.randint(1, 3)
random.Random.uniform :: R = random.Random(0) :: R.uniform(1, 3)
random.Random.choice :: R = random.Random(0) :: R.choice([1, 2])
random.Random.shuffle :: R = random.Random(0); L = [1, 2] :: R.shuffle(L)
random.Random.sample :: R = random.Random(0) :: R.sample([1, 2], 1)
random.Random.seed :: R = random.Random(0) :: R.seed(1)
random.SystemRandom :: random.SystemRandom()
secrets.token_hex :: secrets.token_hex(4)
secrets.randbelow :: secrets.randbelow(4)
uuid.uuid4 :: uuid.uuid4()
uuid.uuid1 :: uuid.uuid1()
"""

BLOCKS["the system"] = """
os.getenv :: os.getenv("FOO", "0")
os.environ.get :: os.environ.get("FOO", "0")
os.environ.__getitem__ :: os.environ["PATH"]
os.environ.__contains__ :: "BAR" in os.environ
os.environ.__setitem__ :: os.environ["COMPILELINT_PROBE"] = "1"
os.environ.setdefault :: os.environ.setdefault("COMPILELINT_PROBE", "1")
os.environ.pop :: os.environ.pop("COMPILELINT_NONE", None)
os.environ.copy :: os.environ.copy()
os.putenv :: os.putenv("COMPILELINT_PROBE", "1")
os.getcwd :: os.getcwd()
os.getpid :: os.getpid()
os.getppid :: os.getppid()
os.cpu_count :: os.cpu_count()
os.urandom :: os.urandom(4)
os.listdir :: os.listdir(DIR)
os.scandir :: os.scandir(DIR)
os.walk :: os.walk(DIR)
os.mkdir :: os.mkdir(os.path.join(DIR, str(time.time_ns())))
os.makedirs :: os.makedirs(DIR, exist_ok=True)
os.remove :: open(FILE + "x", "w").close() :: os.remove(FILE + "x") if os.path.exists(FILE + "x") else None
os.stat :: os.stat(DIR)
os.access :: os.access(DIR, os.R_OK)
os.fspath :: os.fspath("a")
os.uname :: os.uname()
os.sched_getaffinity :: os.sched_getaffinity(0)
os.system :: os.system("true")
os.cpu_count[if] :: (1 if os.cpu_count() else 2)
os.path.join :: os.path.join(".", "a")
os.path.exists :: os.path.exists(DIR)
os.path.isfile :: os.path.isfile(DIR)
os.path.isdir :: os.path.isdir(DIR)
os.path.abspath :: os.path.abspath("a")
os.path.realpath :: os.path.realpath("a")
os.path.basename :: os.path.basename("a/b")
os.path.dirname :: os.path.dirname("a/b")
os.path.splitext :: os.path.splitext("a.b")
os.path.split :: os.path.split("a/b")
os.path.getsize :: os.path.getsize(DIR)
os.path.getmtime :: os.path.getmtime(DIR)
os.path.expanduser :: os.path.expanduser("~")
os.path.relpath :: os.path.relpath("a/b", "a")
os.path.normpath :: os.path.normpath("a//b")
os.path.isabs :: os.path.isabs("a")
sys.stdout.write :: sys.stdout.write("")
sys.stdout.flush :: sys.stdout.flush()
sys.stderr.write :: sys.stderr.write("")
sys.getsizeof :: sys.getsizeof([1])
sys.getsizeof[tensor] :: sys.getsizeof(x)
sys.getrefcount :: sys.getrefcount([1])
sys.getrecursionlimit :: sys.getrecursionlimit()
sys.exc_info :: sys.exc_info()
sys._getframe :: sys._getframe()
sys.intern :: sys.intern("a")
sys.version_info :: sys.version_info >= (3, 8)
sys.version_info.major :: sys.version_info.major
sys.version :: sys.version
sys.platform :: sys.platform == "linux"
sys.modules :: "torch" in sys.modules
sys.modules[get] :: sys.modules.get("torch")
sys.maxsize :: sys.maxsize
sys.argv :: sys.argv
sys.byteorder :: sys.byteorder
sys.flags :: sys.flags.debug
sys.float_info :: sys.float_info.max
sys.executable :: sys.executable
sys.gettrace :: sys.gettrace()
sys.getdefaultencoding :: sys.getdefaultencoding()
sys.is_finalizing :: sys.is_finalizing()
platform.system :: platform.system()
platform.python_version :: platform.python_version()
platform.machine :: platform.machine()
platform.node :: platform.node()
socket.gethostname :: socket.gethostname()
subprocess.run :: subprocess.run(["true"])
subprocess.check_output :: subprocess.check_output(["true"])
subprocess.Popen :: subprocess.Popen(["true"]).wait()
shutil.copy :: open(FILE, "w").close() :: shutil.copy(FILE, FILE + "2")
shutil.which :: shutil.which("true")
shutil.disk_usage :: shutil.disk_usage(DIR)
glob.glob :: glob.glob(DIR + "/*")
tempfile.mkdtemp :: tempfile.mkdtemp(dir=DIR)
tempfile.gettempdir :: tempfile.gettempdir()
tempfile.NamedTemporaryFile :: tempfile.NamedTemporaryFile()
tempfile.TemporaryDirectory :: tempfile.TemporaryDirectory()
atexit.register :: atexit.register(int)
signal.signal :: signal.signal(signal.SIGUSR1, signal.SIG_IGN)
signal.getsignal :: signal.getsignal(signal.SIGUSR1)
signal.alarm :: signal.alarm(0)
ctypes.CDLL :: ctypes.CDLL(None)
ctypes.CDLL function :: LIBC = ctypes.CDLL(None) :: LIBC.abs(-3)
ctypes.c_int :: ctypes.c_int(3)
ctypes.sizeof :: ctypes.sizeof(ctypes.c_int)
resource.getrusage :: import resource :: resource.getrusage(resource.RUSAGE_SELF)
getpass.getuser :: import getpass :: getpass.getuser()
locale.getlocale :: import locale :: locale.getlocale()
select.select :: import select :: select.select([], [], [], 0)
errno.EIO :: import errno :: errno.EIO
"""

BLOCKS["files and formats"] = """
open :: open(os.devnull)
open[write] :: f = open(FILE, "a"); f.write("a"); f.close()
open[with] :: with open(os.devnull) as f: f.read()
io.StringIO :: io.StringIO()
io.StringIO.write :: S = io.StringIO() :: S.write("a")
io.BytesIO :: io.BytesIO()
io.BytesIO.write :: S = io.BytesIO() :: S.write(b"a")
io.BytesIO.getvalue :: S = io.BytesIO() :: S.getvalue()
pathlib.Path :: pathlib.Path("a")
pathlib.Path.__truediv__ :: P = pathlib.Path("a") :: P / "b"
pathlib.Path.exists :: P = pathlib.Path(DIR) :: P.exists()
pathlib.Path.is_dir :: P = pathlib.Path(DIR) :: P.is_dir()
pathlib.Path.mkdir :: P = pathlib.Path(DIR) :: P.mkdir(exist_ok=True)
pathlib.Path.read_text :: P = pathlib.Path(os.devnull) :: P.read_text()
pathlib.Path.write_text :: P = pathlib.Path(FILE) :: P.write_text("a")
pathlib.Path.name :: P = pathlib.Path("a") :: P.name
pathlib.Path.suffix :: P = pathlib.Path("a.b") :: P.suffix
pathlib.Path.glob :: P = pathlib.Path(DIR) :: list(P.glob("*"))
pathlib.Path.cwd :: pathlib.Path.cwd()
pathlib.Path[str] :: P = pathlib.Path("a") :: str(P)
json.dumps :: json.dumps({"a": 1})
json.loads :: json.loads('{"a": 1}')
json.dump :: S = io.StringIO() :: json.dump({"a": 1}, S)
json.load :: S = io.StringIO('{"a": 1}') :: S.seek(0); json.load(S)
pickle.dumps :: pickle.dumps({"a": 1})
pickle.dumps[tensor] :: pickle.dumps(x)
pickle.loads :: B = pickle.dumps(1) :: pickle.loads(B)
csv.writer :: import csv; S = io.StringIO() :: csv.writer(S)
csv.writer.writerow :: import csv; W = csv.writer(io.StringIO()) :: W.writerow([1, 2])
configparser.ConfigParser :: import configparser :: configparser.ConfigParser()
struct.pack :: struct.pack("i", 3)
struct.unpack :: struct.unpack("i", b"abcd")
base64.b64encode :: base64.b64encode(b"a")
base64.b64decode :: base64.b64decode(b"YQ==")
binascii.hexlify :: import binascii :: binascii.hexlify(b"a")
hashlib.md5 :: hashlib.md5(b"a")
hashlib.sha256 :: hashlib.sha256(b"a")
hashlib.sha256[hexdigest] :: hashlib.sha256(b"a").hexdigest()
zlib.crc32 :: zlib.crc32(b"a")
zlib.compress :: zlib.compress(b"a")
zlib.adler32 :: zlib.adler32(b"a")
gzip.compress :: import gzip :: gzip.compress(b"a")
pprint.pprint :: import pprint :: pprint.pprint({"a": 1})
pprint.pformat :: import pprint :: pprint.pformat({"a": 1})
urllib.parse.urlparse :: import urllib.parse :: urllib.parse.urlparse("http://a/b")
urllib.parse.quote :: import urllib.parse :: urllib.parse.quote("a b")
argparse.Namespace :: import argparse :: argparse.Namespace(a=1)
argparse.Namespace.a :: import argparse; N = argparse.Namespace(a=1) :: N.a
types.SimpleNamespace :: import types :: types.SimpleNamespace(a=1)
types.SimpleNamespace.a :: import types; N = types.SimpleNamespace(a=x0) :: N.a + 1
types.MappingProxyType :: import types :: types.MappingProxyType({"a": 1})
types.MethodType :: import types :: types.MethodType(lambda self, t: t, x)
types.FunctionType :: import types; F0 = lambda t: t :: types.FunctionType(F0.__code__, globals())
yaml.safe_load :: import yaml :: yaml.safe_load("a: 1")
"""

BLOCKS["text"] = """
re.match :: re.match("a.*", "abc")
re.search :: re.search("b", "abc")
re.sub :: re.sub("a", "b", "abc")
re.findall :: re.findall("a", "abc")
re.split :: re.split(",", "a,b")
re.fullmatch :: re.fullmatch("abc", "abc")
re.compile :: re.compile("a")
re.Pattern.match :: P = re.compile("a") :: P.match("abc")
re.Pattern.sub :: P = re.compile("a") :: P.sub("b", "abc")
re.Pattern.findall :: P = re.compile("a") :: P.findall("abc")
re.escape :: re.escape("a.b")
re.match[if] :: (1 if re.match("a.*", "abc") else 2)
re.match[group] :: re.match("(a).*", "abc").group(1)
re.Pattern.match[group] :: P = re.compile("(a)") :: P.match("abc").group(1)
string.Template :: string.Template("$a")
string.ascii_letters :: string.ascii_letters
textwrap.dedent :: textwrap.dedent(" a")
textwrap.fill :: textwrap.fill("a b")
difflib.get_close_matches :: import difflib :: difflib.get_close_matches("a", ["ab"])
fnmatch.fnmatch :: import fnmatch :: fnmatch.fnmatch("a.b", "*.b")
shlex.split :: import shlex :: shlex.split("a b")
html.escape :: import html :: html.escape("<")
unicodedata.normalize :: import unicodedata :: unicodedata.normalize("NFC", "a")
str.format :: "{} {}".format(1, 2)
str.format[named] :: "{a}".format(a=1)
str.format[tensor] :: "{}".format(x)
str.format[0-d tensor] :: "{:.3f}".format(s)
str.join :: ",".join(["a", "b"])
str.split :: "a,b".split(",")
str.startswith :: "abc".startswith("a")
str.endswith :: "abc".endswith("c")
str.replace :: "abc".replace("a", "b")
str.lower :: "ABC".lower()
str.upper :: "abc".upper()
str.strip :: " a ".strip()
str.encode :: "a".encode()
str.zfill :: "1".zfill(3)
str.isdigit :: "1".isdigit()
str.find :: "abc".find("b")
str.count :: "abc".count("b")
str.rsplit :: "a.b".rsplit(".", 1)
str.partition :: "a.b".partition(".")
str.title :: "abc".title()
str.center :: "a".center(5)
str.ljust :: "a".ljust(5)
str.__mod__ :: "%d" % x.shape[0]
str.__mod__[tensor] :: "%s" % x
str.__mod__[0-d tensor] :: "%.2f" % s
str.__contains__ :: "a" in "abc"
str.__mul__ :: "-" * 10
str.__add__ :: "a" + "b"
str.__getitem__ :: "abc"[1:]
bytes.decode :: b"a".decode()
"""

BLOCKS["logging, warnings, tracebacks"] = """
print :: print("hello")
print[no arguments] :: print()
print[tensor] :: print(x)
print[shape] :: print(x.shape)
print[f-string] :: print(f"{x.shape}")
print[file] :: print("a", file=sys.stderr)
print[flush] :: print("a", flush=True)
logging.debug :: logging.debug("a")
logging.info :: logging.info("a %s", 3)
logging.warning :: logging.warning("a")
logging.error :: logging.error("a")
logging.critical :: logging.critical("a")
logging.exception :: logging.exception("a")
logging.log :: logging.log(10, "a")
logging.getLogger :: logging.getLogger("probe")
logging.getLogger[root] :: logging.getLogger()
logging.basicConfig :: logging.basicConfig()
logging.disable :: logging.disable(logging.NOTSET)
logging.getLevelName :: logging.getLevelName(10)
logging.Logger.debug :: LOG.debug("a")
logging.Logger.info :: LOG.info("a")
logging.Logger.info[tensor] :: LOG.info("a %s", x)
logging.Logger.warning :: LOG.warning("a")
logging.Logger.warn :: LOG.warning("a")
logging.Logger.error :: LOG.error("a")
logging.Logger.critical :: LOG.critical("a")
logging.Logger.exception :: LOG.exception("a")
logging.Logger.log :: LOG.log(10, "a")
logging.Logger.isEnabledFor :: LOG.isEnabledFor(logging.DEBUG)
logging.Logger.isEnabledFor[if] :: (1 if LOG.isEnabledFor(logging.DEBUG) else 2)
logging.Logger.getEffectiveLevel :: LOG.getEffectiveLevel()
logging.Logger.setLevel :: LOG.setLevel(30)
logging.Logger.level :: LOG.level
logging.Logger.name :: LOG.name
logging.Logger.handlers :: len(LOG.handlers)
logging.Logger.addHandler :: LOG.addHandler(logging.NullHandler())
logging.Logger.hasHandlers :: LOG.hasHandlers()
logging.Logger.propagate :: LOG.propagate
logging.Logger.getChild :: LOG.getChild("a")
logging.LoggerAdapter.info :: A = logging.LoggerAdapter(LOG, {}) :: A.info("a")
logging.StreamHandler :: logging.StreamHandler()
warnings.warn :: warnings.warn("a")
warnings.warn[category] :: warnings.warn("a", DeprecationWarning, stacklevel=2)
warnings.warn[f-string of shape] :: warnings.warn(f"a {x.shape}")
warnings.simplefilter :: warnings.simplefilter("ignore")
warnings.filterwarnings :: warnings.filterwarnings("ignore")
warnings.resetwarnings :: warnings.resetwarnings()
warnings.catch_warnings :: with warnings.catch_warnings(): z = x * 2
warnings.catch_warnings[simplefilter] :: with warnings.catch_warnings(): warnings.simplefilter("ignore"); z = x * 2
warnings.catch_warnings[record] :: with warnings.catch_warnings(record=True) as r: z = x * 2
warnings.warn_explicit :: warnings.warn_explicit("a", UserWarning, "f", 1)
traceback.print_exc :: traceback.print_exc()
traceback.format_exc :: traceback.format_exc()
traceback.print_stack :: traceback.print_stack()
traceback.format_stack :: traceback.format_stack()
traceback.extract_stack :: traceback.extract_stack()
inspect.signature :: H = lambda a, b: a :: inspect.signature(H)
inspect.signature[parameters] :: H = lambda a, b: a :: len(inspect.signature(H).parameters)
inspect.signature[module forward] :: inspect.signature(MOD.forward)
inspect.getfullargspec :: H = lambda a, b: a :: inspect.getfullargspec(H)
inspect.stack :: inspect.stack()
inspect.currentframe :: inspect.currentframe()
inspect.isfunction :: inspect.isfunction(print)
inspect.isclass :: inspect.isclass(int)
inspect.ismethod :: inspect.ismethod(MOD.forward)
inspect.isgenerator :: inspect.isgenerator(x)
inspect.getmembers :: inspect.getmembers(MOD)
inspect.getsource :: inspect.getsource(json.dumps)
inspect.getmodule :: inspect.getmodule(json.dumps)
inspect.getattr_static :: inspect.getattr_static(MOD, "weight", None)
gc.collect :: gc.collect()
gc.disable :: gc.disable()
gc.enable :: gc.enable()
gc.isenabled :: gc.isenabled()
gc.get_objects :: gc.get_objects()
gc.freeze :: gc.freeze()
weakref.ref :: weakref.ref(x)
weakref.ref[call] :: weakref.ref(x)() + 1
weakref.ref[global] :: O = nn.Linear(4, 4); R = weakref.ref(O) :: R()(x)
weakref.proxy :: weakref.proxy(MOD)
weakref.WeakKeyDictionary :: weakref.WeakKeyDictionary()
weakref.WeakValueDictionary :: weakref.WeakValueDictionary()
weakref.WeakSet :: weakref.WeakSet()
weakref.finalize :: weakref.finalize(MOD, int)
"""

BLOCKS["numbers"] = """
math.sqrt :: math.sqrt(4)
math.sqrt[shape] :: math.sqrt(x.shape[-1])
math.sqrt[tensor] :: math.sqrt(s)
math.exp :: math.exp(1)
math.log :: math.log(4)
math.log[tensor] :: math.log(s)
math.log2 :: math.log2(4)
math.log10 :: math.log10(4)
math.log1p :: math.log1p(4)
math.pow :: math.pow(2, 3)
math.sin :: math.sin(1)
math.cos :: math.cos(1)
math.tan :: math.tan(1)
math.atan2 :: math.atan2(1, 2)
math.tanh :: math.tanh(1)
math.floor :: math.floor(2.5)
math.floor[tensor] :: math.floor(s)
math.ceil :: math.ceil(2.5)
math.ceil[tensor] :: math.ceil(s)
math.trunc :: math.trunc(2.5)
math.fabs :: math.fabs(-2.5)
math.isnan :: math.isnan(2.5)
math.isnan[tensor] :: math.isnan(s)
math.isinf :: math.isinf(2.5)
math.isinf[tensor] :: math.isinf(s)
math.isfinite :: math.isfinite(2.5)
math.isfinite[tensor] :: math.isfinite(s)
math.isclose :: math.isclose(1.0, 1.0)
math.gcd :: math.gcd(4, 6)
math.lcm :: math.lcm(4, 6)
math.prod :: math.prod([2, 3])
math.prod[shape] :: math.prod(x.shape)
math.fsum :: math.fsum([1.0, 2.0])
math.factorial :: math.factorial(4)
math.comb :: math.comb(4, 2)
math.perm :: math.perm(4, 2)
math.hypot :: math.hypot(3, 4)
math.dist :: math.dist([0, 0], [3, 4])
math.erf :: math.erf(1)
math.gamma :: math.gamma(3)
math.lgamma :: math.lgamma(3)
math.copysign :: math.copysign(1, -2)
math.fmod :: math.fmod(5, 3)
math.modf :: math.modf(2.5)
math.frexp :: math.frexp(2.5)
math.ldexp :: math.ldexp(2.5, 2)
math.degrees :: math.degrees(1)
math.radians :: math.radians(1)
math.isqrt :: math.isqrt(9)
math.pi :: math.pi
math.inf :: math.inf
cmath.exp :: import cmath :: cmath.exp(1j)
statistics.mean :: statistics.mean([1, 2, 3])
statistics.median :: statistics.median([1, 2, 3])
statistics.stdev :: statistics.stdev([1, 2, 3])
decimal.Decimal :: decimal.Decimal("1.0")
fractions.Fraction :: fractions.Fraction(1, 3)
numbers.Number :: import numbers :: isinstance(3, numbers.Number)
operator.add :: operator.add(x, x)
operator.mul :: operator.mul(2, 3)
operator.itemgetter :: operator.itemgetter(0)([x])
operator.attrgetter :: operator.attrgetter("shape")(x)
operator.methodcaller :: operator.methodcaller("sum")(x)
operator.getitem :: operator.getitem([x], 0)
operator.setitem :: L = [1] :: operator.setitem(L, 0, 2)
operator.contains :: operator.contains([1], 1)
operator.index :: operator.index(3)
operator.index[tensor] :: operator.index(n)
operator.truth :: operator.truth(1)
operator.not_ :: operator.not_(1)
operator.eq :: operator.eq(1, 1)
operator.lt :: operator.lt(1, 2)
operator.iadd :: l = [1]; operator.iadd(l, [2])
operator.matmul :: operator.matmul(x, x)
operator.concat :: operator.concat([1], [2])
operator.length_hint :: operator.length_hint([1])
int :: int(2.5)
int[str] :: int("3")
int[tensor] :: int(n)
int[shape] :: int(x.shape[0])
float :: float(2)
float[str] :: float("1.5")
float[tensor] :: float(s)
bool :: bool(2)
bool[tensor] :: bool(s > 0)
bool[list] :: bool([1])
complex :: complex(1, 2)
complex[tensor] :: complex(s)
round :: round(2.5)
round[tensor item] :: round(s.item())
round[digits] :: round(2.567, 2)
abs :: abs(-2)
abs[tensor] :: abs(x)
pow :: pow(2, 3)
pow[tensor] :: pow(x, 2)
pow[tensor exponent] :: pow(2, x)
divmod :: divmod(5, 2)
min :: min(1, 2)
min[list] :: min([1, 2])
min[tensor] :: min(v)
min[two tensors] :: min(s, s + 1)
min[number and tensor] :: min(1, s)
min[key] :: min([1, 2], key=lambda a: -a)
min[default] :: min([], default=0)
max :: max(1, 2)
max[list] :: max([1, 2])
max[tensor] :: max(v)
max[two tensors] :: max(s, s + 1)
max[number and tensor] :: max(1, s)
max[key] :: max([1, 2], key=lambda a: -a)
max[key of tensors] :: max([s, s + 1], key=lambda a: a)
max[list of tensors] :: max([s, s + 1])
max[shapes] :: max(t.shape[0] for t in [x, x])
sum :: sum([1, 2])
sum[tensor] :: sum(v)
sum[list of tensors] :: sum([x, x])
sum[start] :: sum([x, x], torch.zeros(4, 4))
sum[generator of tensors] :: sum(t for t in [x, x])
any :: any([True, False])
any[tensor] :: any(w)
any[list of tensors] :: any([s > 0, s > 1])
any[generator over shapes] :: any(d > 3 for d in x.shape)
any[generator of tensor tests] :: any(t.sum() > 0 for t in [x, x])
any[generator of isinstance] :: any(isinstance(t, torch.Tensor) for t in [x, 1])
all :: all([True, False])
all[tensor] :: all(w)
all[list of tensors] :: all([s > 0, s > 1])
all[generator over shapes] :: all(d > 3 for d in x.shape)
all[generator of tensor tests] :: all((t > 0).all() for t in [x, x])
sorted :: sorted([3, 1])
sorted[key] :: sorted([3, 1], key=lambda a: -a)
sorted[tensors] :: sorted([s, s + 1])
sorted[tensor key] :: sorted([x, x + 1], key=lambda t: t.sum())
sorted[shape key] :: sorted([x, x[:2]], key=lambda t: t.shape[0])
sorted[dict items] :: sorted({"b": 1, "a": 2}.items())
"""

BLOCKS["builtins"] = """
len :: len([1])
len[tensor] :: len(x)
len[dict] :: len({"a": 1})
range :: range(3)
range[tensor] :: range(n)
range[list] :: list(range(3))
range[shape] :: [a for a in range(x.shape[0])]
enumerate :: list(enumerate([x, x]))
zip :: list(zip([x], [x]))
zip[strict] :: list(zip([x], [x], strict=True))
map :: list(map(lambda t: t + 1, [x, x]))
filter :: list(filter(lambda a: a > 1, [1, 2]))
filter[None] :: list(filter(None, [1, 0]))
reversed :: list(reversed([1, 2]))
reversed[tensor] :: reversed(x)
list :: list((1, 2))
list[tensor] :: list(x)
tuple :: tuple([1, 2])
tuple[tensor] :: tuple(x)
dict :: dict(a=1)
dict[zip] :: dict(zip(["a"], [x]))
set :: set([1, 2])
set[tensor] :: {x}
frozenset :: frozenset([1])
slice :: slice(1, 2)
iter :: iter([1])
iter[next] :: next(iter([x]))
next[default] :: next(iter([]), None)
iter[callable] :: list(iter(lambda: 1, 1))
isinstance :: isinstance(x, torch.Tensor)
isinstance[tuple] :: isinstance(x, (int, torch.Tensor))
issubclass :: issubclass(int, object)
callable :: callable(MOD)
type :: type(x)
type[name] :: type(x).__name__
type[is] :: type(x) is torch.Tensor
type[three arguments] :: type("T", (), {"a": 1})
getattr :: getattr(x, "shape")
getattr[default] :: getattr(x, "foo", None)
getattr[torch] :: getattr(torch, "relu")(x)
hasattr :: hasattr(x, "foo")
hasattr[module] :: hasattr(MOD, "weight")
setattr :: O = Obj() :: setattr(O, "a", 1)
setattr[module, tensor] :: setattr(MOD, "cache", x * 2)
setattr[module, int] :: setattr(MOD, "count", 3)
setattr[module, parameter] :: P = nn.Parameter(torch.randn(4, 4)) :: setattr(MOD, "weight", P)
delattr :: O = Obj(); O.a = 1 :: O.a = 1; delattr(O, "a")
id :: id(x)
id[module] :: id(MOD)
id[dict key] :: {id(x): 1}
hash :: hash("a")
hash[tensor] :: hash(x)
hash[tuple] :: hash((1, 2))
repr :: repr([1])
repr[tensor] :: repr(x)
repr[module] :: repr(MOD)
str :: str(3)
str[tensor] :: str(x)
str[dtype] :: str(x.dtype)
str[device] :: str(x.device)
str[shape] :: str(x.shape)
str[module] :: str(MOD)
format :: format(2.5, ".1f")
format[tensor] :: format(s, ".1f")
ascii :: ascii("a")
chr :: chr(97)
ord :: ord("a")
hex :: hex(10)
bin :: bin(10)
oct :: oct(8)
bytes :: bytes([1])
bytearray :: bytearray(3)
memoryview :: memoryview(b"a")
object :: object()
vars :: O = Obj() :: vars(O)
vars[module] :: vars(MOD)
dir :: dir(MOD)
dir[tensor] :: dir(x)
globals :: globals()
globals[get] :: globals()["MOD"]
locals :: locals()
locals[len] :: len(locals())
exec :: exec("a = 1")
eval :: eval("1 + 1")
eval[variable] :: eval("x")
compile :: compile("1", "f", "eval")
input :: input()
breakpoint :: sys.breakpointhook = lambda *a, **k: None :: breakpoint()
__import__ :: __import__("math")
importlib.import_module :: import importlib :: importlib.import_module("math")
importlib.util.find_spec :: import importlib.util :: importlib.util.find_spec("math")
importlib.metadata.version :: import importlib.metadata :: importlib.metadata.version("torch")
NotImplementedError :: NotImplementedError("a")
ValueError :: ValueError("a")
list.append :: L = [] :: L.append(x)
list.append[local] :: l = []; l.append(x)
list.extend :: l = [1]; l.extend([2])
list.insert :: l = [1]; l.insert(0, 2)
list.pop :: l = [1]; l.pop()
list.remove :: l = [1]; l.remove(1)
list.remove[tensor] :: l = [1, x]; l.remove(1)
list.index :: [1, 2].index(2)
list.index[tensor] :: l = [x, s]; l.index(x)
list.count :: [1, 2].count(2)
list.sort :: l = [3, 1]; l.sort()
list.sort[key] :: l = [3, 1]; l.sort(key=lambda a: -a)
list.sort[reverse] :: l = [3, 1]; l.sort(reverse=True)
list.sort[tensor key] :: l = [x, x + 1]; l.sort(key=lambda t: t.sum())
list.sort[tensors] :: l = [s, s + 1]; l.sort()
list.reverse :: l = [3, 1]; l.reverse()
list.copy :: [3, 1].copy()
list.clear :: l = [3, 1]; l.clear()
list.__contains__ :: 1 in [1, 2]
list.__contains__[tensor in tensors] :: x in [x, x]
list.__contains__[number in tensors] :: 1 in [s, s]
list.__getitem__[tensor] :: [1, 2, 3, 4][n]
list.__getitem__[item] :: [1, 2, 3, 4][n.item()]
list.__getitem__[slice] :: [1, 2, 3, 4][1:]
list.__setitem__ :: l = [1]; l[0] = x
list.__delitem__ :: l = [1]; del l[0]
list.__mul__ :: [1] * 3
list.__add__ :: [1] + [2]
list.__iadd__ :: l = [1]; l += [2]
list.__eq__ :: [1] == [2]
list.__eq__[tensors] :: [x] == [x]
tuple.__contains__ :: 1 in (1, 2)
tuple.__add__ :: (1,) + (2,)
tuple.index :: (1, 2).index(2)
tuple.count :: (1, 2).count(2)
dict.get :: {"a": 1}.get("a")
dict.items :: list({"a": x}.items())
dict.keys :: list({"a": x}.keys())
dict.values :: list({"a": x}.values())
dict.update :: d = {}; d.update(a=1)
dict.pop :: d = {"a": 1}; d.pop("a")
dict.pop[default] :: d = {"a": 1}; d.pop("b", None)
dict.popitem :: d = {"a": 1}; d.popitem()
dict.setdefault :: d = {}; d.setdefault("a", []).append(x)
dict.copy :: {"a": 1}.copy()
dict.clear :: d = {"a": 1}; d.clear()
dict.fromkeys :: dict.fromkeys(["a"], 0)
dict.__contains__ :: "a" in {"a": 1}
dict.__getitem__[tensor key] :: d = {x: 1}; d[x]
dict.__getitem__[item key] :: d = {3: 1}; d.get(n.item())
dict.__setitem__ :: d = {}; d["a"] = x
dict.__delitem__ :: d = {"a": 1}; del d["a"]
dict.__or__ :: {"a": 1} | {"b": 2}
set.add :: t = {1}; t.add(2)
set.add[tensor] :: t = set(); t.add(x)
set.discard :: t = {1}; t.discard(1)
set.remove :: t = {1}; t.remove(1)
set.union :: {1}.union({2})
set.intersection :: {1} & {2}
set.difference :: {1} - {2}
set.issubset :: {1}.issubset({1, 2})
set.update :: t = {1}; t.update({2})
set.__contains__ :: 1 in {1}
set.symmetric_difference :: {1} ^ {2}
"""

BLOCKS["containers, functions, copies"] = """
copy.copy :: copy.copy([1])
copy.copy[tensor] :: copy.copy(x)
copy.copy[module] :: copy.copy(MOD)
copy.copy[dict of tensors] :: copy.copy({"a": x})
copy.copy[list of tensors] :: copy.copy([x])
copy.copy[object] :: O = Obj() :: copy.copy(O)
copy.deepcopy :: copy.deepcopy([1, {"a": 2}])
copy.deepcopy[tensor] :: copy.deepcopy(x)
copy.deepcopy[list of tensors] :: copy.deepcopy([x])
copy.deepcopy[dict of tensors] :: copy.deepcopy({"a": x})
copy.deepcopy[module] :: copy.deepcopy(MOD)
copy.deepcopy[object] :: O = Obj(); O.a = 1 :: copy.deepcopy(O)
itertools.chain :: list(itertools.chain([1], [2]))
itertools.chain.from_iterable :: list(itertools.chain.from_iterable([[1], [2]]))
itertools.product :: list(itertools.product([1], [2]))
itertools.product[tensors] :: list(itertools.product([x], [x]))
itertools.combinations :: list(itertools.combinations([1, 2], 2))
itertools.combinations_with_replacement :: list(itertools.combinations_with_replacement([1, 2], 2))
itertools.permutations :: list(itertools.permutations([1, 2]))
itertools.accumulate :: list(itertools.accumulate([1, 2]))
itertools.accumulate[tensors] :: list(itertools.accumulate([x, x]))
itertools.islice :: list(itertools.islice([1, 2], 1))
itertools.repeat :: list(itertools.repeat(1, 2))
itertools.count :: next(itertools.count())
itertools.count[zip] :: list(zip(itertools.count(), [x]))
itertools.cycle :: next(itertools.cycle([1]))
itertools.groupby :: [k for k, _ in itertools.groupby([1, 1, 2])]
itertools.zip_longest :: list(itertools.zip_longest([1], [2, 3]))
itertools.starmap :: list(itertools.starmap(lambda a, b: a + b, [(1, 2)]))
itertools.takewhile :: list(itertools.takewhile(lambda a: a < 2, [1, 2]))
itertools.dropwhile :: list(itertools.dropwhile(lambda a: a < 2, [1, 2]))
itertools.filterfalse :: list(itertools.filterfalse(lambda a: a < 2, [1, 2]))
itertools.compress :: list(itertools.compress([1, 2], [1, 0]))
itertools.tee :: itertools.tee([1], 2)
itertools.pairwise :: list(itertools.pairwise([1, 2]))
functools.partial :: functools.partial(torch.add, other=x)(x)
functools.reduce :: functools.reduce(operator.add, [x, x])
functools.reduce[lambda] :: functools.reduce(lambda a, b: a * b, [1, 2])
functools.wraps :: functools.wraps(print)(lambda t: t)(x)
functools.lru_cache :: H = functools.lru_cache(None)(lambda k: k * 2) :: H(3)
functools.lru_cache[tensor argument] :: H = functools.lru_cache(None)(lambda k: k * 2) :: H(x)
functools.lru_cache[decorated inside] :: functools.lru_cache(None)(lambda k: k * 2)(3)
functools.lru_cache[logs] :: H = functools.lru_cache(None)(lambda k: LOG.warning(k)) :: H("a")
functools.lru_cache[cache_clear] :: H = functools.lru_cache(None)(lambda k: k * 2) :: H.cache_clear()
functools.cache :: H = functools.cache(lambda k: k * 2) :: H(3)
functools.cmp_to_key :: sorted([2, 1], key=functools.cmp_to_key(lambda a, b: a - b))
functools.singledispatch :: H = functools.singledispatch(lambda k: k * 2) :: H(x)
functools.update_wrapper :: functools.update_wrapper(lambda t: t, print)
collections.OrderedDict :: collections.OrderedDict(a=x)
collections.OrderedDict.move_to_end :: d = collections.OrderedDict(a=x, b=x); d.move_to_end("a")
collections.OrderedDict.popitem :: d = collections.OrderedDict(a=x, b=x); d.popitem(last=False)
collections.defaultdict :: d = collections.defaultdict(list); d["a"].append(x)
collections.defaultdict[int] :: d = collections.defaultdict(int); d["a"] += 1
collections.defaultdict[lambda] :: d = collections.defaultdict(lambda: 0); d["a"] += 1
collections.deque :: d = collections.deque([x], maxlen=3); d.append(x); d.pop()
collections.deque.popleft :: d = collections.deque([x], maxlen=3); d.popleft()
collections.deque.appendleft :: d = collections.deque([x]); d.appendleft(x)
collections.deque.rotate :: d = collections.deque([1, 2]); d.rotate(1)
collections.deque[global] :: D = collections.deque([1]) :: D.append(2)
collections.Counter :: collections.Counter("ab")
collections.Counter[update] :: c0 = collections.Counter(); c0.update(["a"])
collections.Counter[most_common] :: collections.Counter("ab").most_common(1)
collections.ChainMap :: collections.ChainMap({"a": 1}, {"b": 2})
collections.namedtuple :: collections.namedtuple("A", "a b")
collections.namedtuple[instance] :: NT(x, 1)
collections.namedtuple._replace :: NT(x, 1)._replace(b=2)
collections.namedtuple._asdict :: NT(x, 1)._asdict()
collections.namedtuple._fields :: NT(x, 1)._fields
collections.UserDict :: collections.UserDict(a=1)
collections.abc.Mapping :: isinstance({}, collections.abc.Mapping)
collections.abc.Iterable :: isinstance(x, collections.abc.Iterable)
collections.abc.Sequence :: isinstance([], collections.abc.Sequence)
heapq.heappush :: import heapq :: l = []; heapq.heappush(l, 1)
heapq.heappop :: import heapq :: l = [1, 2]; heapq.heappop(l)
heapq.heapify :: import heapq :: l = [2, 1]; heapq.heapify(l)
heapq.nlargest :: import heapq :: heapq.nlargest(1, [1, 2])
bisect.bisect :: import bisect :: bisect.bisect([1, 2], 1)
bisect.insort :: import bisect :: l = [1, 3]; bisect.insort(l, 2)
array.array :: import array :: array.array("i", [1])
queue.Queue :: import queue :: queue.Queue()
queue.Queue.put :: import queue; Q = queue.Queue() :: Q.put(1)
dataclasses.dataclass[instance] :: DC(x)
dataclasses.dataclass[defined inside] :: dataclasses.make_dataclass("A", ["a"])
dataclasses.replace :: dataclasses.replace(DC(x), b=2)
dataclasses.replace[global] :: D = DC(x0) :: dataclasses.replace(D, b=2).b
dataclasses.asdict :: dataclasses.asdict(DC(x))
dataclasses.asdict[no tensors] :: dataclasses.asdict(DC(1))
dataclasses.astuple :: dataclasses.astuple(DC(x))
dataclasses.fields :: dataclasses.fields(DC(x))
dataclasses.fields[names] :: [f.name for f in dataclasses.fields(DC(x))]
dataclasses.is_dataclass :: dataclasses.is_dataclass(DC)
dataclasses.field :: dataclasses.field(default=1)
enum.Enum[member] :: Mode.A
enum.Enum[call] :: Mode("a")
enum.Enum[getitem] :: Mode["A"]
enum.Enum[value] :: Mode.A.value
enum.Enum[name] :: Mode.A.name
enum.Enum[iterate] :: [e for e in Mode]
enum.Enum[==] :: Mode.A == Mode.B
enum.Enum[is] :: Mode.A is Mode.B
enum.Enum[in] :: Mode.A in (Mode.A, Mode.B)
enum.Enum[dict key] :: {Mode.A: 1}[Mode.A]
enum.IntEnum :: enum.IntEnum("E", "A B")
enum.auto :: enum.auto()
typing.cast :: typing.cast(int, 3)
typing.cast[tensor] :: typing.cast(torch.Tensor, x)
typing.get_type_hints :: typing.get_type_hints(DC)
typing.NamedTuple :: TN(x, 1)
typing.TYPE_CHECKING :: typing.TYPE_CHECKING
typing.get_origin :: typing.get_origin(list[int])
typing.get_args :: typing.get_args(list[int])
typing.Optional :: typing.Optional[int]
typing.NewType :: typing.NewType("A", int)
contextlib.nullcontext :: with contextlib.nullcontext(): z = x * 2
contextlib.suppress :: with contextlib.suppress(ValueError): z = x * 2
contextlib.suppress[raises] :: with contextlib.suppress(ValueError): raise ValueError
contextlib.ExitStack :: with contextlib.ExitStack() as t: z = x * 2
contextlib.ExitStack.enter_context :: with contextlib.ExitStack() as t: t.enter_context(torch.no_grad()); z = x * 2
contextlib.redirect_stdout :: S = io.StringIO() :: with contextlib.redirect_stdout(S): z = x * 2
contextlib.closing :: S = io.StringIO() :: with contextlib.closing(io.StringIO()): z = x * 2
contextlib.contextmanager :: with CM0(): z = x * 2
contextvars.ContextVar.get :: import contextvars; V = contextvars.ContextVar("v", default=1) :: V.get()
contextvars.ContextVar.set :: import contextvars; V = contextvars.ContextVar("v", default=1) :: V.set(2)
threading.Lock :: threading.Lock()
threading.Lock[with global] :: LOCK = threading.Lock() :: with LOCK: z = x * 2
threading.Lock.acquire :: LOCK = threading.Lock() :: LOCK.acquire(); LOCK.release()
threading.RLock[with global] :: LOCK = threading.RLock() :: with LOCK: z = x * 2
threading.Event :: threading.Event()
threading.Event.set :: E = threading.Event() :: E.set()
threading.Event.is_set :: E = threading.Event() :: E.is_set()
threading.Condition[with] :: C = threading.Condition() :: with C: z = x * 2
threading.Semaphore[with] :: C = threading.Semaphore() :: with C: z = x * 2
threading.Thread :: threading.Thread(target=int)
threading.Thread.start :: t = threading.Thread(target=int); t.start(); t.join()
threading.current_thread :: threading.current_thread()
threading.get_ident :: threading.get_ident()
threading.active_count :: threading.active_count()
threading.main_thread :: threading.main_thread()
threading.local.__setattr__ :: TL = threading.local() :: TL.v = 1
threading.local.__getattribute__ :: TL = threading.local(); TL.v = 1 :: TL.v
threading.local :: threading.local()
multiprocessing.current_process :: import multiprocessing :: multiprocessing.current_process()
multiprocessing.cpu_count :: import multiprocessing :: multiprocessing.cpu_count()
concurrent.futures.ThreadPoolExecutor :: import concurrent.futures :: concurrent.futures.ThreadPoolExecutor(1)
asyncio.run :: import asyncio; H = (lambda: asyncio.sleep(0)) :: asyncio.run(H())
"""

BLOCKS["numpy"] = """
np.sqrt :: np.sqrt(4)
np.sqrt[shape] :: np.sqrt(x.shape[-1])
np.sqrt[array] :: np.sqrt(x.numpy())
np.exp :: np.exp(1.0)
np.log :: np.log(2.0)
np.log2 :: np.log2(8)
np.sin :: np.sin(1.0)
np.cos :: np.cos(1.0)
np.power :: np.power(2, 3)
np.ceil :: np.ceil(2.5)
np.floor :: np.floor(2.5)
np.round :: np.round(2.5)
np.abs :: np.abs(-2)
np.prod :: np.prod([2, 3])
np.prod[shape] :: np.prod(x.shape)
np.sum :: np.sum([2, 3])
np.sum[array] :: np.sum(x.numpy())
np.mean :: np.mean([2.0, 3.0])
np.mean[array] :: np.mean(x.numpy())
np.std :: np.std([2.0, 3.0])
np.var :: np.var([2.0, 3.0])
np.max :: np.max([2, 3])
np.min :: np.min([2, 3])
np.argmax :: np.argmax([2, 3])
np.argsort :: np.argsort([2, 3])
np.sort :: np.sort([2, 3])
np.median :: np.median([2.0, 3.0])
np.percentile :: np.percentile([2.0, 3.0], 50)
np.quantile :: np.quantile([2.0, 3.0], 0.5)
np.cumsum :: np.cumsum([2, 3])
np.cumprod :: np.cumprod([2, 3])
np.diff :: np.diff([2, 3])
np.clip :: np.clip(3, 0, 1)
np.maximum :: np.maximum(1, 2)
np.minimum :: np.minimum(1, 2)
np.where :: np.where(np.array([True]), 1, 2)
np.where[one] :: np.where(x.numpy() > 0)
np.nonzero :: np.nonzero(x.numpy())
np.argwhere :: np.argwhere(x.numpy())
np.unique :: np.unique(x.numpy())
np.bincount :: np.bincount([1, 2])
np.histogram :: np.histogram([1, 2])
np.isnan :: np.isnan(1.0)
np.isnan[array] :: np.isnan(x.numpy())
np.isinf :: np.isinf(1.0)
np.isfinite :: np.isfinite(1.0)
np.isclose :: np.isclose(1.0, 1.0)
np.allclose :: np.allclose([1.0], [1.0])
np.array_equal :: np.array_equal([1.0], [1.0])
np.any :: np.any([True])
np.all :: np.all([True])
np.array :: np.array([1, 2])
np.array[tensor] :: np.array(x)
np.asarray :: np.asarray([1, 2])
np.asarray[tensor] :: np.asarray(x)
np.arange :: np.arange(4)
np.arange[astype] :: np.arange(4).astype(np.float32)
np.linspace :: np.linspace(0, 1, 4)
np.logspace :: np.logspace(0, 1, 4)
np.geomspace :: np.geomspace(1, 2, 4)
np.zeros :: np.zeros(4)
np.ones :: np.ones(4)
np.full :: np.full(4, 2.0)
np.empty :: np.empty(4)
np.eye :: np.eye(4)
np.zeros_like :: np.zeros_like(x.numpy())
np.meshgrid :: np.meshgrid([1, 2], [3, 4])
np.mgrid :: np.mgrid[0:2, 0:2]
np.ogrid :: np.ogrid[0:2, 0:2]
np.ix_ :: np.ix_([0, 1], [0, 1])
np.r_ :: np.r_[1, 2]
np.newaxis :: x.numpy()[np.newaxis]
np.concatenate :: np.concatenate([x.numpy(), x.numpy()])
np.stack :: np.stack([x.numpy(), x.numpy()])
np.vstack :: np.vstack([x.numpy(), x.numpy()])
np.hstack :: np.hstack([x.numpy(), x.numpy()])
np.split :: np.split(x.numpy(), 2)
np.array_split :: np.array_split(x.numpy(), 2)
np.tile :: np.tile([1, 2], 2)
np.repeat :: np.repeat([1, 2], 2)
np.reshape :: np.reshape([1, 2], (2, 1))
np.transpose :: np.transpose(x.numpy())
np.swapaxes :: np.swapaxes(x.numpy(), 0, 1)
np.expand_dims :: np.expand_dims(x.numpy(), 0)
np.squeeze :: np.squeeze(x.numpy())
np.flip :: np.flip(x.numpy())
np.roll :: np.roll(x.numpy(), 1)
np.pad :: np.pad([1, 2], 1)
np.outer :: np.outer([1, 2], [1, 2])
np.dot :: np.dot(x.numpy(), x.numpy())
np.matmul :: np.matmul(x.numpy(), x.numpy())
np.einsum :: np.einsum("ij,jk->ik", x.numpy(), x.numpy())
np.linalg.norm :: np.linalg.norm(x.numpy())
np.linalg.inv :: np.linalg.inv(np.eye(4))
np.linalg.det :: np.linalg.det(np.eye(4))
np.linalg.svd :: np.linalg.svd(x.numpy())
np.linalg.eigh :: np.linalg.eigh(np.eye(4))
np.linalg.solve :: np.linalg.solve(np.eye(4), np.ones(4))
np.fft.fft :: np.fft.fft([1.0, 2.0])
np.interp :: np.interp(0.5, [0, 1], [0, 1])
np.searchsorted :: np.searchsorted([1, 2], 1)
np.digitize :: np.digitize([1.0], [0, 2])
np.convolve :: np.convolve([1, 2], [1, 2])
np.polyfit :: np.polyfit([1, 2], [1, 2], 1)
np.gradient :: np.gradient([1.0, 2.0])
np.trapezoid :: np.trapezoid([1.0, 2.0])
np.cross :: np.cross([1, 0, 0], [0, 1, 0])
np.kron :: np.kron([1, 2], [1, 2])
np.tril :: np.tril(x.numpy())
np.triu :: np.triu(x.numpy())
np.diag :: np.diag([1, 2])
np.in1d :: np.isin([1], [1, 2])
np.intersect1d :: np.intersect1d([1], [1, 2])
np.setdiff1d :: np.setdiff1d([1], [1, 2])
np.union1d :: np.union1d([1], [1, 2])
np.nan_to_num :: np.nan_to_num([1.0])
np.nanmean :: np.nanmean([1.0])
np.nansum :: np.nansum([1.0])
np.vectorize :: np.vectorize(lambda a: a + 1)([1])
np.apply_along_axis :: np.apply_along_axis(np.sum, 0, x.numpy())
np.nditer :: [float(a) for a in np.nditer(np.ones(2))]
np.ndenumerate :: list(np.ndenumerate(np.ones(2)))
np.ndindex :: list(np.ndindex(2, 2))
np.unravel_index :: np.unravel_index(3, (2, 2))
np.ravel_multi_index :: np.ravel_multi_index((1, 1), (2, 2))
np.finfo :: np.finfo(np.float32).eps
np.iinfo :: np.iinfo(np.int32).max
np.dtype :: np.dtype("float32")
np.float32 :: np.float32(1.5)
np.float64 :: np.float64(1.5)
np.int64 :: np.int64(1)
np.int32 :: np.int32(1)
np.bool_ :: np.bool_(True)
np.pi :: np.pi
np.inf :: np.inf
np.nan :: np.nan
np.isscalar :: np.isscalar(3)
np.shape :: np.shape(x.numpy())
np.ndim :: np.ndim(x.numpy())
np.size :: np.size(x.numpy())
np.save :: np.save(io.BytesIO(), np.ones(2))
np.load :: B = io.BytesIO(); np.save(B, np.ones(2)) :: B.seek(0); np.load(B)
np.frombuffer :: np.frombuffer(b"abcd", dtype=np.uint8)
np.fromiter :: np.fromiter([1, 2], dtype=np.int64)
np.testing.assert_allclose :: np.testing.assert_allclose(1.0, 1.0)
np.errstate :: with np.errstate(all="ignore"): z = x * 2
np.seterr :: np.seterr(all="ignore")
np.set_printoptions :: np.set_printoptions(precision=4)
np.random.rand :: np.random.rand(4)
np.random.rand[scalar] :: np.random.rand()
np.random.randn :: np.random.randn(4)
np.random.randint :: np.random.randint(0, 4)
np.random.random :: np.random.random()
np.random.uniform :: np.random.uniform(0, 1)
np.random.normal :: np.random.normal(0, 1)
np.random.choice :: np.random.choice([1, 2, 3])
np.random.permutation :: np.random.permutation(4)
np.random.shuffle :: A = np.arange(4) :: np.random.shuffle(A)
np.random.seed :: np.random.seed(0)
np.random.beta :: np.random.beta(1.0, 1.0)
np.random.binomial :: np.random.binomial(1, 0.5)
np.random.exponential :: np.random.exponential()
np.random.default_rng :: np.random.default_rng(0)
np.random.RandomState :: np.random.RandomState(0)
np.random.get_state :: np.random.get_state()
np.random.Generator.random :: R = np.random.default_rng(0) :: R.random()
np.random.Generator.integers :: R = np.random.default_rng(0) :: R.integers(0, 4)
np.random.Generator.normal :: R = np.random.default_rng(0) :: R.normal()
np.random.Generator.uniform :: R = np.random.default_rng(0) :: R.uniform()
np.random.Generator.choice :: R = np.random.default_rng(0) :: R.choice([1, 2])
np.random.Generator.permutation :: R = np.random.default_rng(0) :: R.permutation(4)
np.random.RandomState.rand :: R = np.random.RandomState(0) :: R.rand()
np.random.RandomState.randint :: R = np.random.RandomState(0) :: R.randint(4)
np.ndarray.astype :: x.numpy().astype(np.float64)
np.ndarray.astype[str] :: x.numpy().astype("float64")
np.ndarray.tolist :: x.numpy().tolist()
np.ndarray.item :: s.numpy().item()
np.ndarray.shape :: x.numpy().shape
np.ndarray.dtype :: x.numpy().dtype
np.ndarray.T :: x.numpy().T
np.ndarray.copy :: x.numpy().copy()
np.ndarray.reshape :: x.numpy().reshape(-1)
np.ndarray.mean :: x.numpy().mean()
np.ndarray.sum :: x.numpy().sum()
np.ndarray.max :: x.numpy().max()
np.ndarray.any :: (x.numpy() > 0).any()
np.ndarray.any[if] :: (1 if (x.numpy() > 0).any() else 2)
np.ndarray.fill :: A = np.ones(4) :: A.fill(2)
np.ndarray.flatten :: x.numpy().flatten()
np.ndarray.nonzero :: x.numpy().nonzero()
np.ndarray.tobytes :: x.numpy().tobytes()
np.ndarray.__getitem__ :: x.numpy()[0]
np.ndarray.__getitem__[mask] :: x.numpy()[x.numpy() > 0]
np.ndarray.__setitem__ :: a = x.numpy().copy(); a[0] = 1
np.ndarray.__len__ :: len(x.numpy())
np.ndarray.__iter__ :: [a for a in x.numpy()]
np.ndarray.__bool__ :: bool(s.numpy() > 0)
np.ndarray.__float__ :: float(s.numpy())
np.ndarray[global constant] :: A = np.ones(4, dtype=np.float32) :: x + torch.from_numpy(A)
np.ndarray[argument of torch.tensor] :: A = np.ones(4) :: torch.tensor(A)
np.ndarray[global scalar] :: A = np.float32(2.0) :: x * A
np.ndarray[operator with tensor] :: A = np.float64(2.0) :: A * x
np.ndarray[isinstance] :: isinstance(x, np.ndarray)
"""

BLOCKS["torch, not operators"] = """
torch.manual_seed :: torch.manual_seed(0)
torch.seed :: torch.seed()
torch.initial_seed :: torch.initial_seed()
torch.get_rng_state :: torch.get_rng_state()
torch.set_rng_state :: T = torch.get_rng_state() :: torch.set_rng_state(T)
torch.random.manual_seed :: torch.random.manual_seed(0)
torch.random.get_rng_state :: torch.random.get_rng_state()
torch.random.fork_rng :: with torch.random.fork_rng(devices=[]): z = torch.rand(4)
torch.random.fork_rng[default devices] :: with torch.random.fork_rng(): z = torch.rand(4)
torch.random.initial_seed :: torch.random.initial_seed()
torch.Generator :: torch.Generator()
torch.Generator[device] :: torch.Generator(device="cpu")
torch.Generator.manual_seed :: GEN.manual_seed(0)
torch.Generator.seed :: GEN.seed()
torch.Generator.initial_seed :: GEN.initial_seed()
torch.Generator.get_state :: GEN.get_state()
torch.Generator.set_state :: T = GEN.get_state() :: GEN.set_state(T)
torch.Generator.device :: GEN.device
torch.rand[generator] :: torch.rand(4, generator=GEN)
torch.rand[generator=None] :: torch.rand(4, generator=None)
torch.randn[generator] :: torch.randn(4, generator=GEN)
torch.randperm[generator] :: torch.randperm(4, generator=GEN)
torch.randint[generator] :: torch.randint(0, 4, (4,), generator=GEN)
torch.bernoulli[generator] :: torch.bernoulli(torch.rand(4), generator=GEN)
torch.multinomial[generator] :: torch.multinomial(x.softmax(-1), 1, generator=GEN)
Tensor.normal_[generator] :: x.clone().normal_(generator=GEN)
Tensor.uniform_[generator] :: x.clone().uniform_(generator=GEN)
torch.set_default_dtype :: torch.set_default_dtype(torch.float32)
torch.get_default_dtype :: torch.get_default_dtype()
torch.set_default_device :: torch.set_default_device("cpu")
torch.get_default_device :: torch.get_default_device()
torch.set_default_tensor_type :: torch.set_default_tensor_type(torch.FloatTensor)
torch.set_num_threads :: torch.set_num_threads(1)
torch.get_num_threads :: torch.get_num_threads()
torch.set_printoptions :: torch.set_printoptions(precision=4)
torch.set_float32_matmul_precision :: torch.set_float32_matmul_precision("highest")
torch.get_float32_matmul_precision :: torch.get_float32_matmul_precision()
torch.set_deterministic_debug_mode :: torch.set_deterministic_debug_mode(0)
torch.use_deterministic_algorithms :: torch.use_deterministic_algorithms(False)
torch.are_deterministic_algorithms_enabled :: torch.are_deterministic_algorithms_enabled()
torch.is_deterministic_algorithms_warn_only_enabled :: torch.is_deterministic_algorithms_warn_only_enabled()
torch.set_flush_denormal :: torch.set_flush_denormal(False)
torch.set_warn_always :: torch.set_warn_always(False)
torch.save :: torch.save(x, io.BytesIO())
torch.load :: B = io.BytesIO(); torch.save(torch.ones(2), B) :: B.seek(0); torch.load(B)
torch.hub.get_dir :: torch.hub.get_dir()
torch.is_tensor :: torch.is_tensor(x)
torch.is_storage :: torch.is_storage(x)
torch.is_floating_point :: torch.is_floating_point(x)
torch.is_complex :: torch.is_complex(x)
torch.is_nonzero :: torch.is_nonzero(s)
torch.is_nonzero[if] :: (1 if torch.is_nonzero(s) else 2)
torch.is_same_size :: torch.is_same_size(x, y)
torch.is_conj :: torch.is_conj(x)
torch.is_neg :: torch.is_neg(x)
torch.is_inference :: torch.is_inference(x)
torch.is_distributed :: torch.is_distributed(x)
torch.is_signed :: torch.is_signed(x)
torch.is_autocast_enabled :: torch.is_autocast_enabled()
torch.is_autocast_enabled[device] :: torch.is_autocast_enabled("cpu")
torch.is_autocast_cpu_enabled :: torch.is_autocast_cpu_enabled()
torch.get_autocast_dtype :: torch.get_autocast_dtype("cpu")
torch.get_autocast_gpu_dtype :: torch.get_autocast_gpu_dtype()
torch.is_autocast_cache_enabled :: torch.is_autocast_cache_enabled()
torch.set_autocast_enabled :: torch.set_autocast_enabled("cpu", False)
torch.clear_autocast_cache :: torch.clear_autocast_cache()
torch.is_grad_enabled :: torch.is_grad_enabled()
torch.is_inference_mode_enabled :: torch.is_inference_mode_enabled()
torch.is_anomaly_enabled :: torch.is_anomaly_enabled()
torch.numel :: torch.numel(x)
torch.typename :: torch.typename(x)
torch.finfo :: torch.finfo(x.dtype).min
torch.finfo[eps] :: torch.finfo(torch.float32).eps
torch.iinfo :: torch.iinfo(torch.int64).max
torch.dtype.is_floating_point :: x.dtype.is_floating_point
torch.dtype.itemsize :: x.dtype.itemsize
torch.dtype.to_real :: torch.complex64.to_real()
torch.can_cast :: torch.can_cast(torch.float32, torch.int64)
torch.promote_types :: torch.promote_types(torch.float32, torch.int64)
torch.result_type :: torch.result_type(x, 2)
torch.device :: torch.device("cpu")
torch.device[index] :: torch.device("cuda", 0)
torch.device[str of device] :: torch.device(str(x.device))
torch.device.type :: x.device.type == "cpu"
torch.device.index :: x.device.index
torch.device[with] :: with torch.device("cpu"): z = torch.zeros(4)
torch.Size :: torch.Size([2, 2])
torch.Size.numel :: x.shape.numel()
torch.equal :: torch.equal(x, y)
torch.equal[if] :: (1 if torch.equal(x, y) else 2)
torch.allclose :: torch.allclose(x, y)
torch.allclose[if] :: (1 if torch.allclose(x, y) else 2)
torch._assert :: torch._assert((x < 100).all(), "a")
torch._assert[python bool] :: torch._assert(x.shape[0] == 4, "a")
torch._assert_async :: torch._assert_async((x < 100).all())
torch._check :: torch._check(x.shape[0] == 4)
torch._check[lambda] :: torch._check(x.shape[0] == 4, lambda: "a")
torch._check_value :: torch._check_value(x.shape[0] == 4)
torch._check_tensor_all :: torch._check_tensor_all(x < 100)
torch._shape_as_tensor :: torch._shape_as_tensor(x)
torch.tensor[number] :: torch.tensor(1.0)
torch.tensor[list] :: torch.tensor([1.0, 2.0])
torch.tensor[nested list] :: torch.tensor([[1, 2], [3, 4]])
torch.tensor[tensor] :: torch.tensor(x)
torch.tensor[list of tensors] :: torch.tensor([s, s])
torch.tensor[list of items] :: torch.tensor([s.item(), s.item()])
torch.tensor[tolist] :: torch.tensor(v.tolist())
torch.tensor[shape] :: torch.tensor(x.shape)
torch.tensor[shape element] :: torch.tensor(x.shape[0])
torch.tensor[device] :: torch.tensor([1.0], device=x.device)
torch.as_tensor :: torch.as_tensor([1.0])
torch.as_tensor[tensor] :: torch.as_tensor(x)
torch.as_tensor[list of tensors] :: torch.as_tensor([s, s])
torch.asarray :: torch.asarray([1.0])
torch.scalar_tensor :: torch.scalar_tensor(1.0)
torch.from_numpy :: torch.from_numpy(x.numpy())
torch.from_numpy[np.array] :: torch.from_numpy(np.array([1.0]))
torch.frombuffer :: torch.frombuffer(bytearray(b"abcd"), dtype=torch.uint8)
torch.from_dlpack :: torch.from_dlpack(x)
torch.utils.dlpack.to_dlpack :: torch.utils.dlpack.to_dlpack(x)
torch.Tensor :: torch.Tensor([1.0, 2.0])
torch.Tensor[sizes] :: torch.Tensor(2, 3)
torch.FloatTensor :: torch.FloatTensor([1.0])
torch.LongTensor :: torch.LongTensor([1])
torch.IntTensor :: torch.IntTensor([1])
torch.BoolTensor :: torch.BoolTensor([True])
torch.sparse_coo_tensor :: torch.sparse_coo_tensor(torch.stack([i, i]), v, (4, 4))
torch.sparse.mm :: A = torch.eye(4).to_sparse() :: torch.sparse.mm(A, x)
torch.sparse.sum :: A = torch.eye(4).to_sparse() :: torch.sparse.sum(A)
torch.sparse_csr_tensor :: torch.sparse_csr_tensor(torch.tensor([0, 1, 2]), torch.tensor([0, 1]), torch.tensor([1.0, 2.0]), (2, 2))
torch.nested.nested_tensor :: torch.nested.nested_tensor([x[0], x[1, :2]], layout=torch.jagged)
torch.nested.nested_tensor[strided] :: torch.nested.nested_tensor([x[0], x[1, :2]])
torch.nested.as_nested_tensor :: torch.nested.as_nested_tensor([x[:2], x], layout=torch.jagged).sin()
torch.nested.nested_tensor_from_jagged :: torch.nested.nested_tensor_from_jagged(x, offsets=torch.tensor([0, 2, 4]))
torch.nested.to_padded_tensor :: torch.nested.nested_tensor([x, x]).to_padded_tensor(0.0)
torch.einsum :: torch.einsum("ij,kj->ik", x, x)
torch.where :: torch.where(m, x, y)
torch.where[scalar] :: torch.where(m, x, 0.0)
torch.where[one] :: torch.where(m)
torch.polygamma :: torch.polygamma(1, x.abs())
torch.normal :: torch.normal(x, x.abs())
torch.normal[sizes] :: torch.normal(0.0, 1.0, (4,))
torch.nn.functional.embedding :: F.embedding(i, x)
torch.nn.functional.embedding[max_norm] :: F.embedding(i, x.clone(), max_norm=1.0)
torch.nn.functional.one_hot :: F.one_hot(i)
torch.nn.functional.one_hot[num_classes] :: F.one_hot(i, 8)
torch.nn.functional.one_hot[num_classes=-1] :: F.one_hot(i, num_classes=-1)
torch.nn.functional.interpolate[recompute_scale_factor] :: F.interpolate(x[None, None], scale_factor=1.5, recompute_scale_factor=True)
torch.nn.functional.multi_head_attention_forward :: MHA(x[None], x[None], x[None])
torch.nn.functional.gumbel_softmax :: F.gumbel_softmax(x)
torch.nn.functional.gumbel_softmax[hard] :: F.gumbel_softmax(x, hard=True)
torch.nn.functional.grid_sample :: F.grid_sample(x[None, None], torch.zeros(1, 4, 4, 2))
torch.nn.functional.affine_grid :: F.affine_grid(torch.zeros(1, 2, 3), [1, 1, 4, 4])
torch.nn.functional.ctc_loss :: F.ctc_loss(torch.randn(5, 1, 4).log_softmax(-1), i[None, :2] + 1, torch.tensor([5]), torch.tensor([2]))
torch.nn.functional.dropout :: F.dropout(x, 0.5)
torch.nn.functional.sigmoid :: F.sigmoid(x)
torch.nn.functional.tanh :: F.tanh(x)
torch.arange :: torch.arange(4)
torch.arange[tensor] :: torch.arange(n)
torch.arange[item] :: torch.arange(n.item())
torch.arange[max] :: torch.arange(i.max())
torch.arange[shape] :: torch.arange(x.shape[0])
torch.zeros[tensor] :: torch.zeros(n)
torch.zeros[item] :: torch.zeros(n.item())
torch.ones[tensor] :: torch.ones(n)
torch.full :: torch.full((4,), 1.0)
torch.full[tensor] :: torch.full((4,), s)
torch.full[tensor size] :: torch.full((n,), 1.0)
torch.full_like[tensor] :: torch.full_like(x, s)
torch.linspace[tensor] :: torch.linspace(s, s + 1, 4)
torch.eye[tensor] :: torch.eye(n)
torch.randperm[tensor] :: torch.randperm(n)
torch.randint[tensor high] :: torch.randint(0, n, (4,))
torch.add[alpha tensor] :: torch.add(x, y, alpha=s)
torch.topk[tensor k] :: torch.topk(x, n)
torch.roll[tensor shift] :: torch.roll(x, n)
torch.narrow[tensor start] :: torch.narrow(x, 0, n - 3, 2)
torch.chunk[tensor] :: torch.chunk(x, n)
torch.split[tensor] :: torch.split(x, n)
torch.split[tolist] :: x.split(k.tolist())
torch.tensor_split[tensor] :: torch.tensor_split(x, k)
torch.tensor_split :: torch.tensor_split(x, 2)
torch.repeat_interleave[tensor] :: x.repeat_interleave(i, dim=0)
torch.repeat_interleave[tensor,output_size] :: x.repeat_interleave(torch.ones_like(i), dim=0, output_size=4)
torch.repeat_interleave[int] :: x.repeat_interleave(2, dim=0)
torch.repeat_interleave[repeats only] :: torch.repeat_interleave(i)
torch.clamp[tensor] :: torch.clamp(x, s, s + 1)
torch.clamp[item] :: torch.clamp(x, max=s.item())
torch.bincount :: torch.bincount(i)
torch.bincount[minlength] :: torch.bincount(i, minlength=8)
torch.histc :: torch.histc(x, bins=4)
torch.histogram :: torch.histogram(x, 4)
torch.histogramdd :: torch.histogramdd(x[:, :2], [2, 2])
torch.unique :: torch.unique(x)
torch.unique[inverse] :: torch.unique(x, return_inverse=True)
torch.unique[dim] :: torch.unique(x, dim=0)
torch.unique_consecutive :: torch.unique_consecutive(x)
torch.nonzero :: torch.nonzero(m)
torch.nonzero[as_tuple] :: torch.nonzero(m, as_tuple=True)
torch.nonzero_static :: torch.nonzero_static(m, size=4)
torch.argwhere :: torch.argwhere(m)
torch.masked_select :: torch.masked_select(x, m)
torch.combinations :: torch.combinations(v)
torch.cartesian_prod :: torch.cartesian_prod(v, v)
torch.block_diag :: torch.block_diag(x, x)
torch.meshgrid :: torch.meshgrid(v, v, indexing="ij")
torch.meshgrid[no indexing] :: torch.meshgrid(v, v)
torch.atleast_2d :: torch.atleast_2d(v)
torch.broadcast_tensors :: torch.broadcast_tensors(x, v)
torch.broadcast_shapes :: torch.broadcast_shapes((4, 1), (1, 4))
torch.lu :: torch.lu(x)
torch.stft :: torch.stft(torch.randn(128), 16, window=torch.hann_window(16), return_complex=True)
torch.hann_window :: torch.hann_window(16)
torch.signal.windows.hann :: torch.signal.windows.hann(16)
torch.cdist :: torch.cdist(x, y)
torch.corrcoef :: torch.corrcoef(x)
torch.vmap :: torch.vmap(torch.sum)(x)
torch.func.vmap :: torch.func.vmap(lambda t: t * 2)(x)
torch.func.grad :: torch.func.grad(lambda t: (t * t).sum())(x)
torch.func.grad_and_value :: torch.func.grad_and_value(lambda t: (t * t).sum())(x)
torch.func.jacrev :: torch.func.jacrev(lambda t: t * 2)(v)
torch.func.jacfwd :: torch.func.jacfwd(lambda t: t * 2)(v)
torch.func.hessian :: torch.func.hessian(lambda t: (t * t).sum())(v)
torch.func.vjp :: torch.func.vjp(lambda t: t * 2, x)
torch.func.jvp :: torch.func.jvp(lambda t: t * 2, (x,), (x,))
torch.func.linearize :: torch.func.linearize(lambda t: t * 2, x)
torch.func.functional_call :: torch.func.functional_call(MOD, dict(MOD.named_parameters()), (x,))
torch.func.stack_module_state :: torch.func.stack_module_state([MOD, MOD])
torch.func.functionalize :: torch.func.functionalize(lambda t: t * 2)(x)
torch.compiler.is_compiling :: torch.compiler.is_compiling()
torch.compiler.is_dynamo_compiling :: torch.compiler.is_dynamo_compiling()
torch._dynamo.is_compiling :: torch._dynamo.is_compiling()
torch.compiler.is_exporting :: torch.compiler.is_exporting()
torch.jit.is_scripting :: torch.jit.is_scripting()
torch.jit.is_tracing :: torch.jit.is_tracing()
torch._C._get_tracing_state :: torch._C._get_tracing_state()
torch.onnx.is_in_onnx_export :: torch.onnx.is_in_onnx_export()
torch.jit.annotate :: torch.jit.annotate(int, 3)
torch.jit.isinstance :: torch.jit.isinstance(x, torch.Tensor)
torch.jit.script :: torch.jit.script(torch.nn.ReLU())
torch.jit.script[function called] :: JS = torch.jit.script(lambda_source) :: JS(x)
torch.jit.script[module called] :: JM = torch.jit.script(nn.Linear(4, 4)) :: JM(x)
torch.jit.trace[function called] :: JT = torch.jit.trace(lambda t: t + 1, (torch.randn(4, 4),)) :: JT(x)
torch.jit.trace :: torch.jit.trace(torch.nn.ReLU(), (torch.ones(2),))
torch.jit.fork :: torch.jit.wait(torch.jit.fork(torch.relu, x))
torch.compile[inside] :: torch.compile(torch.relu)
torch.compile[inner called] :: H = torch.compile(lambda t: t + 1, backend="eager") :: H(x)
torch.compiler.disable[called] :: H = torch.compiler.disable(lambda t: t + 1) :: H(x)
torch.compiler.disable :: torch.compiler.disable(lambda t: t + 1)(x)
torch._dynamo.disable[called] :: H = torch._dynamo.disable(lambda t: t + 1) :: H(x)
torch.compiler.allow_in_graph[called] :: torch.compiler.allow_in_graph(HELPER) :: HELPER(x)
torch.compiler.cudagraph_mark_step_begin :: torch.compiler.cudagraph_mark_step_begin()
torch._dynamo.graph_break :: torch._dynamo.graph_break()
torch._dynamo.mark_dynamic :: torch._dynamo.mark_dynamic(x, 0)
torch._dynamo.mark_static :: torch._dynamo.mark_static(x, 0)
torch._dynamo.maybe_mark_dynamic :: torch._dynamo.maybe_mark_dynamic(x, 0)
torch.compiler.set_stance :: torch.compiler.set_stance("default")
torch.compiler.assume_constant_result :: H = torch.compiler.assume_constant_result(lambda: 3) :: H()
torch.cond :: torch.cond(s > 0, lambda t: t + 1, lambda t: t - 1, (x,))
torch.cond[python bool] :: torch.cond(x.shape[0] > 2, lambda t: t + 1, lambda t: t - 1, (x,))
torch.while_loop :: from torch._higher_order_ops.while_loop import while_loop :: while_loop(lambda t: t.sum() < 100, lambda t: (t.abs() + 1,), (x,))
torch.utils.checkpoint.checkpoint :: torch.utils.checkpoint.checkpoint(lambda t: torch.sin(t) * 2, x, use_reentrant=False)
torch.utils.checkpoint.checkpoint[use_reentrant=True] :: torch.utils.checkpoint.checkpoint(lambda t: torch.sin(t) * 2, g, use_reentrant=True)
torch.utils.checkpoint.checkpoint_sequential :: SQ = nn.Sequential(nn.Linear(4, 4), nn.ReLU()) :: torch.utils.checkpoint.checkpoint_sequential(SQ, 2, g, use_reentrant=False)
torch.utils.data.DataLoader :: torch.utils.data.DataLoader([1, 2])
torch.utils.data.DataLoader[iterate] :: for b in torch.utils.data.DataLoader([1, 2]): z = x + b
torch.utils.data.DataLoader[iterate global] :: DL = torch.utils.data.DataLoader([1, 2]) :: for b in DL: z = x + b
torch.utils.data.TensorDataset :: torch.utils.data.TensorDataset(x)
torch.utils.data.default_collate :: torch.utils.data.default_collate([1, 2])
torch.utils.data.get_worker_info :: torch.utils.data.get_worker_info()
torch.utils._pytree.tree_map :: torch.utils._pytree.tree_map(lambda t: t + 1, {"a": x, "b": [x]})
torch.utils._pytree.tree_flatten :: torch.utils._pytree.tree_flatten({"a": x})
torch.utils._pytree.tree_leaves :: torch.utils._pytree.tree_leaves({"a": x})
torch.utils.benchmark.Timer :: torch.utils.benchmark.Timer("1")
torch.profiler.record_function :: with torch.profiler.record_function("a"): z = x * 2
torch.autograd.profiler.record_function :: with torch.autograd.profiler.record_function("a"): z = x * 2
torch.profiler.profile :: with torch.profiler.profile(): z = x * 2
torch.autograd.profiler.profile :: with torch.autograd.profiler.profile(): z = x * 2
torch.profiler.ProfilerActivity :: torch.profiler.ProfilerActivity.CPU
torch.overrides.is_tensor_like :: torch.overrides.is_tensor_like(x)
torch.overrides.has_torch_function :: torch.overrides.has_torch_function((x,))
torch.overrides.has_torch_function_unary :: torch.overrides.has_torch_function_unary(x)
torch.ops.aten.add :: torch.ops.aten.add(x, x)
torch.ops.aten.add.Tensor :: torch.ops.aten.add.Tensor(x, x)
torch.ops[custom op with fake] :: torch.ops.probe.with_fake(x)
torch.ops[custom op without fake] :: torch.ops.probe.no_fake(x)
torch.ops[library op without fake] :: torch.ops.probe.raw(x)
torch.library.custom_op[called] :: WITH_FAKE(x)
torch.library.custom_op[without fake] :: NO_FAKE(x)
torch._C._nn.gelu :: torch._C._nn.gelu(x)
torch._foreach_add :: torch._foreach_add([x, x], 1.0)
torch._foreach_mul_ :: torch._foreach_mul_([x.clone()], 2.0)
torch._foreach_norm :: torch._foreach_norm([x, x])
torch._VF.unbind :: torch._VF.unbind(x)
torch.library.Library :: torch.library.Library("probe2", "FRAGMENT")
torch.ops.aten._local_scalar_dense :: torch.ops.aten._local_scalar_dense(s)
torch.testing.assert_close :: torch.testing.assert_close(x, x)
torch.testing.make_tensor :: torch.testing.make_tensor((2,), device="cpu", dtype=torch.float32)
torch.nn.init.normal_ :: nn.init.normal_(x.clone())
torch.nn.init.zeros_ :: nn.init.zeros_(x.clone())
torch.nn.init.xavier_uniform_ :: nn.init.xavier_uniform_(x.clone())
torch.nn.init.kaiming_normal_ :: nn.init.kaiming_normal_(x.clone())
torch.nn.init.trunc_normal_ :: nn.init.trunc_normal_(x.clone())
torch.nn.init.orthogonal_ :: nn.init.orthogonal_(x.clone())
torch.nn.init.constant_ :: nn.init.constant_(x.clone(), 1.0)
torch.nn.init.eye_ :: nn.init.eye_(x.clone())
torch.nn.init.calculate_gain :: nn.init.calculate_gain("relu")
torch.nn.utils.clip_grad_norm_ :: MOD(torch.randn(4, 4)).sum().backward() :: nn.utils.clip_grad_norm_(MOD.parameters(), 1.0)
torch.nn.utils.clip_grad_norm_[error_if_nonfinite] :: MOD(torch.randn(4, 4)).sum().backward() :: nn.utils.clip_grad_norm_(MOD.parameters(), 1.0, error_if_nonfinite=True)
torch.nn.utils.clip_grad_value_ :: MOD(torch.randn(4, 4)).sum().backward() :: nn.utils.clip_grad_value_(MOD.parameters(), 1.0)
torch.nn.utils.get_total_norm :: nn.utils.get_total_norm([x, x])
torch.nn.utils.parameters_to_vector :: nn.utils.parameters_to_vector(MOD.parameters())
torch.nn.utils.vector_to_parameters :: V = nn.utils.parameters_to_vector(MOD.parameters()).detach() :: nn.utils.vector_to_parameters(V, MOD.parameters())
torch.nn.utils.weight_norm :: nn.utils.weight_norm(nn.Linear(4, 4))
torch.nn.utils.parametrizations.weight_norm[forward] :: WN = nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)) :: WN(x)
torch.nn.utils.parametrizations.spectral_norm[forward] :: SN = nn.utils.parametrizations.spectral_norm(nn.Linear(4, 4)) :: SN(x)
torch.nn.utils.spectral_norm[forward] :: SN = nn.utils.spectral_norm(nn.Linear(4, 4)) :: SN(x)
torch.nn.utils.weight_norm[forward] :: WN = nn.utils.weight_norm(nn.Linear(4, 4)) :: WN(x)
torch.nn.utils.parametrize.cached :: with nn.utils.parametrize.cached(): z = x * 2
torch.nn.utils.rnn.pad_sequence :: nn.utils.rnn.pad_sequence([x[0, :2], x[1, :3]])
torch.nn.utils.rnn.pack_padded_sequence :: nn.utils.rnn.pack_padded_sequence(x[None, :, :].expand(1, 4, 4), torch.tensor([4]), batch_first=True)
torch.nn.utils.rnn.pack_padded_sequence[list] :: nn.utils.rnn.pack_padded_sequence(x[None], [4], batch_first=True)
torch.nn.utils.rnn.pad_packed_sequence :: PK = nn.utils.rnn.pack_padded_sequence(torch.randn(1, 4, 4), [4], batch_first=True) :: nn.utils.rnn.pad_packed_sequence(PK, batch_first=True)
torch.nn.utils.rnn.pack_sequence :: nn.utils.rnn.pack_sequence([x[0], x[1]])
torch.nn.utils.rnn.unpad_sequence :: nn.utils.rnn.unpad_sequence(x, torch.tensor([4, 4, 2, 1]), batch_first=True)
torch.nn.utils.skip_init :: nn.utils.skip_init(nn.Linear, 4, 4)
torch.nn.attention.sdpa_kernel :: with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH): z = F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
torch.nn.functional.scaled_dot_product_attention :: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None])
torch.nn.functional.scaled_dot_product_attention[is_causal] :: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], is_causal=True)
torch.nn.attention.flex_attention.flex_attention :: from torch.nn.attention.flex_attention import flex_attention :: flex_attention(x.view(1, 1, 1, 16), x.view(1, 1, 1, 16), x.view(1, 1, 1, 16))
torch.nn.attention.flex_attention.create_block_mask :: from torch.nn.attention.flex_attention import create_block_mask :: create_block_mask(lambda b, h, q, kv: q >= kv, 1, 1, 128, 128, device="cpu")
torch.backends.cuda.sdp_kernel :: with torch.backends.cuda.sdp_kernel(enable_flash=False): z = x * 2
torch.backends.cudnn.flags :: with torch.backends.cudnn.flags(enabled=False): z = x * 2
torch.backends.cudnn.enabled :: torch.backends.cudnn.enabled
torch.backends.cudnn.is_available :: torch.backends.cudnn.is_available()
torch.backends.cudnn.version :: torch.backends.cudnn.version()
torch.backends.cudnn.benchmark :: torch.backends.cudnn.benchmark
torch.backends.cudnn.benchmark[assign] :: torch.backends.cudnn.benchmark = False
torch.backends.cuda.matmul.allow_tf32 :: torch.backends.cuda.matmul.allow_tf32
torch.backends.cuda.matmul.allow_tf32[assign] :: torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cuda.is_built :: torch.backends.cuda.is_built()
torch.backends.cuda.flash_sdp_enabled :: torch.backends.cuda.flash_sdp_enabled()
torch.backends.cuda.enable_flash_sdp :: torch.backends.cuda.enable_flash_sdp(True)
torch.backends.mps.is_available :: torch.backends.mps.is_available()
torch.backends.mkldnn.is_available :: torch.backends.mkldnn.is_available()
torch.backends.mkldnn.flags :: with torch.backends.mkldnn.flags(enabled=True): z = x * 2
torch.backends.openmp.is_available :: torch.backends.openmp.is_available()
torch.cuda.is_available :: torch.cuda.is_available()
torch.cuda.is_available[if] :: (1 if torch.cuda.is_available() else 2)
torch.cuda.is_initialized :: torch.cuda.is_initialized()
torch.cuda.device_count :: torch.cuda.device_count()
torch.cuda.current_device :: torch.cuda.current_device()
torch.cuda.get_device_name :: torch.cuda.get_device_name()
torch.cuda.get_device_capability :: torch.cuda.get_device_capability()
torch.cuda.get_device_properties :: torch.cuda.get_device_properties(0)
torch.cuda.set_device :: torch.cuda.set_device(0)
torch.cuda.synchronize :: torch.cuda.synchronize()
torch.cuda.empty_cache :: torch.cuda.empty_cache()
torch.cuda.memory_allocated :: torch.cuda.memory_allocated()
torch.cuda.max_memory_allocated :: torch.cuda.max_memory_allocated()
torch.cuda.memory_reserved :: torch.cuda.memory_reserved()
torch.cuda.reset_peak_memory_stats :: torch.cuda.reset_peak_memory_stats()
torch.cuda.mem_get_info :: torch.cuda.mem_get_info()
torch.cuda.memory_stats :: torch.cuda.memory_stats()
torch.cuda.current_stream :: torch.cuda.current_stream()
torch.cuda.default_stream :: torch.cuda.default_stream()
torch.cuda.Stream :: torch.cuda.Stream()
torch.cuda.stream :: ST = torch.cuda.Stream() :: with torch.cuda.stream(ST): z = x * 2
torch.cuda.Event :: torch.cuda.Event()
torch.cuda.Event.record :: e = torch.cuda.Event(); e.record()
torch.cuda.Event.synchronize :: e = torch.cuda.Event(); e.record(); e.synchronize()
torch.cuda.device :: with torch.cuda.device(0): z = x * 2
torch.cuda.device[None] :: with torch.cuda.device(None): z = x * 2
torch.cuda.manual_seed :: torch.cuda.manual_seed(0)
torch.cuda.manual_seed_all :: torch.cuda.manual_seed_all(0)
torch.cuda.get_rng_state :: torch.cuda.get_rng_state()
torch.cuda.initial_seed :: torch.cuda.initial_seed()
torch.cuda.is_bf16_supported :: torch.cuda.is_bf16_supported()
torch.cuda.get_arch_list :: torch.cuda.get_arch_list()
torch.cuda.nvtx.range_push :: torch.cuda.nvtx.range_push("a"); torch.cuda.nvtx.range_pop()
torch.cuda.nvtx.range :: with torch.cuda.nvtx.range("a"): z = x * 2
torch.cuda.is_current_stream_capturing :: torch.cuda.is_current_stream_capturing()
torch.cuda.amp.autocast :: with torch.cuda.amp.autocast(enabled=False): z = x * 2
torch.accelerator.is_available :: torch.accelerator.is_available()
torch.accelerator.current_accelerator :: torch.accelerator.current_accelerator()
torch.accelerator.device_count :: torch.accelerator.device_count()
torch.cpu.is_available :: torch.cpu.is_available()
torch.xpu.is_available :: torch.xpu.is_available()
torch.version.cuda :: torch.version.cuda
torch.version.hip :: torch.version.hip is not None
torch.__version__ :: torch.__version__
torch.__version__[compare] :: torch.__version__ >= "2.0"
torch.__version__[split] :: torch.__version__.split(".")[0]
packaging.version.parse :: import packaging.version :: packaging.version.parse("2.0")
packaging.version.parse[compare] :: import packaging.version :: packaging.version.parse(torch.__version__) >= packaging.version.parse("2.0")
torch.distributed.is_available :: torch.distributed.is_available()
torch.distributed.is_initialized :: torch.distributed.is_initialized()
torch.distributed.get_rank :: init_dist() :: torch.distributed.get_rank()
torch.distributed.get_world_size :: init_dist() :: torch.distributed.get_world_size()
torch.distributed.get_backend :: init_dist() :: torch.distributed.get_backend()
torch.distributed.all_reduce :: init_dist() :: torch.distributed.all_reduce(x.clone())
torch.distributed.all_reduce[async_op] :: init_dist() :: torch.distributed.all_reduce(x.clone(), async_op=True).wait()
torch.distributed.all_gather :: init_dist() :: o = [torch.zeros_like(x)]; torch.distributed.all_gather(o, x)
torch.distributed.all_gather_into_tensor :: init_dist() :: torch.distributed.all_gather_into_tensor(torch.zeros_like(x), x)
torch.distributed.all_gather_object :: init_dist() :: o = [None]; torch.distributed.all_gather_object(o, 3)
torch.distributed.reduce_scatter_tensor :: init_dist() :: torch.distributed.reduce_scatter_tensor(torch.zeros_like(x), x)
torch.distributed.broadcast :: init_dist() :: torch.distributed.broadcast(x.clone(), 0)
torch.distributed.reduce :: init_dist() :: torch.distributed.reduce(x.clone(), 0)
torch.distributed.all_to_all_single :: init_dist() :: torch.distributed.all_to_all_single(torch.zeros_like(x), x)
torch.distributed.barrier :: init_dist() :: torch.distributed.barrier()
torch.distributed.get_process_group_ranks :: init_dist() :: torch.distributed.get_process_group_ranks(torch.distributed.group.WORLD)
torch.distributed._functional_collectives.all_reduce :: init_dist(); import torch.distributed._functional_collectives as fc :: fc.all_reduce(x, "sum", [0])
torch.distributed.nn.functional.all_reduce :: init_dist(); import torch.distributed.nn.functional as dnn :: dnn.all_reduce(x)
"""

BLOCKS["autograd"] = """
torch.no_grad :: with torch.no_grad(): z = x * 2
torch.no_grad[decorator] :: torch.no_grad()(lambda t: t * 2)(x)
torch.enable_grad :: with torch.enable_grad(): z = x * 2
torch.set_grad_enabled :: with torch.set_grad_enabled(False): z = x * 2
torch.set_grad_enabled[call] :: torch.set_grad_enabled(False); z = x * 2; torch.set_grad_enabled(True)
torch.inference_mode :: with torch.inference_mode(): z = x * 2
torch.inference_mode[decorator] :: torch.inference_mode()(lambda t: t * 2)(x)
torch.autocast :: with torch.autocast("cpu", dtype=torch.bfloat16): z = x @ x
torch.autocast[cuda] :: with torch.autocast("cuda", enabled=False): z = x @ x
torch.amp.autocast :: with torch.amp.autocast("cpu", dtype=torch.bfloat16): z = x @ x
torch.amp.GradScaler :: torch.amp.GradScaler("cpu")
torch.amp.GradScaler.scale :: SC = torch.amp.GradScaler("cpu"); SC.scale(torch.ones(1)) :: SC.scale(s)
torch.autograd.grad :: torch.autograd.grad((g * 2).sum(), g)
torch.autograd.grad[create_graph] :: torch.autograd.grad((g * g).sum(), g, create_graph=True)
torch.autograd.backward :: torch.autograd.backward((g * 2).sum())
torch.autograd.set_detect_anomaly :: with torch.autograd.set_detect_anomaly(False): z = x * 2
torch.autograd.detect_anomaly :: with torch.autograd.detect_anomaly(check_nan=False): z = x * 2
torch.autograd.forward_ad.dual_level :: import torch.autograd.forward_ad as fwAD :: with fwAD.dual_level(): z = x * 2
torch.autograd.forward_ad.make_dual :: import torch.autograd.forward_ad as fwAD :: with fwAD.dual_level(): z = fwAD.make_dual(x, x)
torch.autograd.functional.jacobian :: torch.autograd.functional.jacobian(lambda t: t * 2, v)
torch.autograd.functional.hessian :: torch.autograd.functional.hessian(lambda t: (t * t).sum(), v)
torch.autograd.functional.vjp :: torch.autograd.functional.vjp(lambda t: t * 2, v, v)
torch.autograd.graph.saved_tensors_hooks :: with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t): z = g * 2
torch.autograd.graph.save_on_cpu :: with torch.autograd.graph.save_on_cpu(): z = g * 2
torch.autograd.graph.disable_saved_tensors_hooks :: with torch.autograd.graph.disable_saved_tensors_hooks("a"): z = g * 2
torch.autograd.Function.apply :: AF.apply(x)
torch.autograd.Function.apply[grad] :: AF.apply(g)
torch.autograd.Function.apply[item in forward] :: AFI.apply(g)
torch.autograd.Function.apply[print in forward] :: AFPF.apply(g)
torch.autograd.Function.apply[print in backward] :: AFP.apply(g)
torch.autograd.Function.apply[numpy in forward] :: AFN.apply(g)
torch.autograd.Function.apply[no grad, print in backward] :: AFP.apply(x)
torch.autograd.Variable :: torch.autograd.Variable(x)
torch.autograd._unsafe_preserve_version_counter :: with torch.autograd._unsafe_preserve_version_counter(x): z = x * 2
"""

BLOCKS["tensor methods and attributes"] = """
Tensor.item :: s.item()
Tensor.item[constant] :: torch.tensor(3).item()
Tensor.item[of a shape] :: torch.tensor(x.shape[0]).item()
Tensor.item[multiplied] :: x * s.item()
Tensor.item[if] :: (1 if s.item() > 0 else 2)
Tensor.tolist :: v.tolist()
Tensor.tolist[int] :: i.tolist()
Tensor.tolist[0-d] :: s.tolist()
Tensor.tolist[bool] :: w.tolist()
Tensor.numpy :: x.numpy()
Tensor.numpy[force] :: x.numpy(force=True)
Tensor.numpy[round trip] :: torch.from_numpy(x.numpy() + 1)
Tensor.cpu :: x.cpu()
Tensor.cpu[numpy] :: x.detach().cpu().numpy()
Tensor.to[cpu] :: x.to("cpu")
Tensor.to[non_blocking] :: x.to("cpu", non_blocking=True)
Tensor.to[device of other] :: x.to(y.device)
Tensor.to[other] :: x.to(y)
Tensor.to[dtype] :: x.to(torch.float64)
Tensor.to[str dtype of other] :: x.to(dtype=y.dtype)
Tensor.type :: x.type()
Tensor.type[dtype] :: x.type(torch.float64)
Tensor.type[legacy class] :: x.type(torch.FloatTensor)
Tensor.type[legacy string] :: x.type("torch.FloatTensor")
Tensor.type_as :: x.type_as(y)
Tensor.data :: x.data
Tensor.data[parameter] :: MOD.weight.data
Tensor.data[assign] :: z = x.clone(); z.data = x * 2
Tensor.data[parameter assign] :: MOD.weight.data = x * 2
Tensor.data[in place] :: x.data.add_(1)
Tensor.data[parameter in place] :: MOD.weight.data.add_(1)
Tensor.data[parameter copy_] :: MOD.weight.data.copy_(x)
Tensor.grad :: x.grad
Tensor.grad[is None] :: x.grad is None
Tensor.grad[parameter] :: MOD.weight.grad
Tensor.grad[parameter with grad] :: MOD(torch.randn(4, 4)).sum().backward() :: MOD.weight.grad + 1
Tensor.grad[assign None] :: MOD.weight.grad = None
Tensor.grad[assign] :: MOD.weight.grad = x * 1
Tensor.grad[in place] :: MOD(torch.randn(4, 4)).sum().backward() :: MOD.weight.grad.mul_(2)
Tensor.grad_fn :: x.grad_fn
Tensor.grad_fn[result] :: (g * 2).grad_fn
Tensor.grad_fn[is not None] :: (g * 2).grad_fn is not None
Tensor.grad_fn[name] :: (g * 2).grad_fn.name()
Tensor.requires_grad :: x.requires_grad
Tensor.requires_grad[if] :: (1 if x.requires_grad else 2)
Tensor.requires_grad[assign True] :: x.requires_grad = True
Tensor.requires_grad[assign False] :: x.requires_grad = False
Tensor.requires_grad[result assign] :: z = x.clone(); z.requires_grad = True
Tensor.requires_grad[parameter assign] :: MOD.weight.requires_grad = False
Tensor.requires_grad_ :: x.requires_grad_()
Tensor.requires_grad_[False] :: x.requires_grad_(False)
Tensor.requires_grad_[result] :: z = x.detach().clone().requires_grad_(True)
Tensor.requires_grad_[parameter] :: MOD.weight.requires_grad_(False)
Tensor.is_leaf :: x.is_leaf
Tensor.is_leaf[result] :: (x * 2).is_leaf
Tensor.retain_grad :: z = g * 2; z.retain_grad()
Tensor.backward :: (g * 2).sum().backward()
Tensor.register_hook :: g.register_hook(lambda t: t * 2)
Tensor.register_hook[result] :: z = g * 2; z.register_hook(lambda t: t * 2)
Tensor.register_hook[remove] :: z = g * 2; h = z.register_hook(lambda t: t * 2); h.remove()
Tensor.register_post_accumulate_grad_hook :: g.register_post_accumulate_grad_hook(lambda t: None)
Tensor.detach :: x.detach()
Tensor.detach_ :: x.clone().detach_()
Tensor.clone :: x.clone()
Tensor.shape :: x.shape
Tensor.shape[index] :: x.shape[0]
Tensor.size :: x.size()
Tensor.size[dim] :: x.size(0)
Tensor.size[tensor dim] :: x.size(n - 3)
Tensor.ndim :: x.ndim
Tensor.dim :: x.dim()
Tensor.numel :: x.numel()
Tensor.nelement :: x.nelement()
Tensor.stride :: x.stride()
Tensor.stride[dim] :: x.stride(0)
Tensor.storage_offset :: x.storage_offset()
Tensor.element_size :: x.element_size()
Tensor.itemsize :: x.itemsize
Tensor.nbytes :: x.nbytes
Tensor.dtype :: x.dtype
Tensor.dtype[==] :: x.dtype == torch.float32
Tensor.device :: x.device
Tensor.device[==] :: x.device == torch.device("cpu")
Tensor.device[type] :: x.device.type
Tensor.layout :: x.layout
Tensor.is_cuda :: x.is_cuda
Tensor.is_cpu :: x.is_cpu
Tensor.is_mps :: x.is_mps
Tensor.is_meta :: x.is_meta
Tensor.is_sparse :: x.is_sparse
Tensor.is_sparse_csr :: x.is_sparse_csr
Tensor.is_quantized :: x.is_quantized
Tensor.is_nested :: x.is_nested
Tensor.is_mkldnn :: x.is_mkldnn
Tensor.is_contiguous :: x.is_contiguous()
Tensor.is_contiguous[memory_format] :: x[None, None].is_contiguous(memory_format=torch.channels_last)
Tensor.is_floating_point :: x.is_floating_point()
Tensor.is_complex :: x.is_complex()
Tensor.is_signed :: x.is_signed()
Tensor.is_inference :: x.is_inference()
Tensor.is_shared :: x.is_shared()
Tensor.is_pinned :: x.is_pinned()
Tensor.is_coalesced :: A = torch.eye(4).to_sparse() :: A.is_coalesced()
Tensor.is_same_size :: x.is_same_size(y)
Tensor.is_set_to :: x.is_set_to(y)
Tensor.is_conj :: x.is_conj()
Tensor.is_nonzero :: s.is_nonzero()
Tensor.get_device :: x.get_device()
Tensor.share_memory_ :: x.share_memory_()
Tensor.data_ptr :: x.data_ptr()
Tensor.data_ptr[result] :: (x * 2).data_ptr()
Tensor.data_ptr[alignment test] :: x.data_ptr() % 16 == 0
Tensor.storage :: x.storage()
Tensor.untyped_storage :: x.untyped_storage()
Tensor.untyped_storage[nbytes] :: x.untyped_storage().nbytes()
Tensor.untyped_storage[data_ptr] :: x.untyped_storage().data_ptr()
Tensor.untyped_storage[size] :: x.untyped_storage().size()
Tensor.untyped_storage[resize_] :: x.clone().untyped_storage().resize_(0)
Tensor._version :: x._version
Tensor._version[result] :: (x * 2)._version
Tensor._base :: x._base
Tensor._base[view] :: x[0]._base
Tensor._is_view :: x._is_view()
Tensor._backward_hooks :: x._backward_hooks
Tensor._grad :: x._grad
Tensor._nnz :: A = torch.eye(4).to_sparse() :: A._nnz()
Tensor.names :: x.names
Tensor.real :: c.real
Tensor.imag :: c.imag
Tensor.T :: x.T
Tensor.mT :: x.mT
Tensor.H :: x.H
Tensor.output_nr :: x.output_nr
Tensor.__class__ :: x.__class__
Tensor.__class__[is] :: x.__class__ is torch.Tensor
Tensor.__dict__ :: x.__dict__
Tensor.__len__ :: len(x)
Tensor.__iter__ :: [t for t in x]
Tensor.__iter__[unpack] :: a, b, d, e = x
Tensor.__contains__ :: 1.0 in x
Tensor.__contains__[tensor] :: s in x
Tensor.__bool__[if] :: (1 if s > 0 else 2)
Tensor.__bool__[not] :: not s > 0
Tensor.__bool__[and] :: (s > 0) and (s > 1)
Tensor.__bool__[while] :: while s < -1e9: s = s + 1
Tensor.__bool__[assert] :: assert (x < 100).all()
Tensor.__bool__[assert constant message] :: assert (x < 100).all(), "too big"
Tensor.__bool__[assert f-string message] :: assert (x < 100).all(), f"too big: {x.shape}"
Tensor.__index__[list] :: [1, 2, 3, 4][n]
Tensor.__index__[slice] :: v[:n]
Tensor.__index__[slice assign] :: z = v.clone(); z[:n] = 0
Tensor.__format__ :: f"{x}"
Tensor.__format__[spec] :: f"{s:.3f}"
Tensor.__format__[item] :: f"{s.item():.3f}"
Tensor.__repr__ :: x.__repr__()
Tensor.__str__ :: str(x)
Tensor.__hash__ :: hash(x)
Tensor.__array__ :: x.__array__()
Tensor.__deepcopy__ :: copy.deepcopy(x)
Tensor.__reduce_ex__ :: x.__reduce_ex__(2)
Tensor.__dlpack__ :: x.__dlpack__()
Tensor.__setattr__ :: z = x * 2; z.foo = 3
Tensor.__setattr__[input] :: x.foo = 3
Tensor.__setattr__[read back] :: z = x * 2; z.foo = 3; q = z.foo
Tensor.__getattr__[hasattr] :: hasattr(x, "foo")
Tensor.__getitem__ :: x[0]
Tensor.__getitem__[mask] :: x[m]
Tensor.__getitem__[row mask] :: x[w]
Tensor.__getitem__[column mask] :: x[:, w]
Tensor.__getitem__[byte mask] :: x[w.byte()]
Tensor.__getitem__[index tensor] :: x[i]
Tensor.__getitem__[0-d index] :: x[n]
Tensor.__getitem__[item index] :: x[n.item()]
Tensor.__getitem__[list] :: x[[0, 1]]
Tensor.__getitem__[bool list] :: x[[True, False, True, False]]
Tensor.__getitem__[None] :: x[None]
Tensor.__getitem__[ellipsis] :: x[..., 0]
Tensor.__getitem__[slice] :: x[1:3]
Tensor.__getitem__[step] :: x[::2]
Tensor.__getitem__[slice item] :: x[: n.item()]
Tensor.__getitem__[numpy] :: x[np.array([0, 1])]
Tensor.__getitem__[tuple of tensors] :: x[i, i]
Tensor.__getitem__[shape slice] :: x[: x.shape[0] // 2]
Tensor.__setitem__ :: z = x.clone(); z[0] = 1.0
Tensor.__setitem__[mask,scalar] :: z = x.clone(); z[m] = 0.0
Tensor.__setitem__[mask,tensor] :: z = x.clone(); z[m] = z[m] * 2
Tensor.__setitem__[mask,0-d] :: z = x.clone(); z[m] = s
Tensor.__setitem__[mask,row] :: z = x.clone(); z[w] = v
Tensor.__setitem__[mask,item] :: z = x.clone(); z[m] = s.item()
Tensor.__setitem__[mask,new tensor] :: z = x.clone(); z[m] = torch.tensor(0.0)
Tensor.__setitem__[mask,iadd] :: z = x.clone(); z[m] += 1
Tensor.__setitem__[mask,imul] :: z = x.clone(); z[m] *= 2
Tensor.__setitem__[row mask,scalar] :: z = x.clone(); z[w] = 0.0
Tensor.__setitem__[row mask and column,scalar] :: z = x.clone(); z[w, 0] = 0.0
Tensor.__setitem__[index,tensor] :: z = x.clone(); z[i] = y
Tensor.__setitem__[index,scalar] :: z = x.clone(); z[i] = 0.0
Tensor.__setitem__[0-d index] :: z = x.clone(); z[n] = 1.0
Tensor.__setitem__[list] :: z = x.clone(); z[[0, 1]] = 1.0
Tensor.__setitem__[slice,tensor] :: z = x.clone(); z[1:3] = y[1:3]
Tensor.__setitem__[slice tensor bound] :: z = x.clone(); z[:n] = 1.0
Tensor.__setitem__[slice item bound] :: z = x.clone(); z[: n.item()] = 1.0
Tensor.__setitem__[input] :: x[0] = 1.0
Tensor.__delitem__ :: q = [x]; del q[0]
Tensor.__eq__[if] :: (1 if s == s + 1 else 2)
Tensor.__eq__[None] :: x == None
Tensor.__ne__[None] :: x is not None
Tensor.__rsub__ :: 1 - x
Tensor.__rtruediv__ :: 1 / x
Tensor.__rpow__ :: 2 ** x
Tensor.__iadd__ :: z = x.clone(); z += 1
Tensor.__imul__ :: z = x.clone(); z *= s
Tensor.__matmul__ :: x @ y
Tensor.__and__ :: m & m
Tensor.__invert__ :: ~m
Tensor.__floordiv__ :: x // 2
Tensor.__mod__ :: x % 2
Tensor.__lshift__ :: i << 1
Tensor.__abs__ :: abs(x)
Tensor.__neg__ :: -x
Tensor.__mul__[numpy scalar] :: x * np.float32(2.0)
Tensor.__mul__[python list] :: x * torch.tensor([1.0] * 4)
Tensor.add_[input] :: x.add_(1)
Tensor.copy_ :: x.clone().copy_(y)
Tensor.fill_[tensor] :: x.clone().fill_(s)
Tensor.fill_[item] :: x.clone().fill_(s.item())
Tensor.resize_ :: x.clone().resize_(2, 2)
Tensor.resize_as_ :: x.clone().resize_as_(y)
Tensor.set_ :: x.clone().set_(y)
Tensor.view[dtype] :: x.view(torch.int32)
Tensor.view[product] :: x.view(x.size(0) * x.size(1))
Tensor.view[item] :: x.view(n.item() + 1, -1)
Tensor.reshape :: x.reshape(-1)
Tensor.expand[shape] :: v.expand(x.shape)
Tensor.unfold :: x.unfold(0, 2, 1)
Tensor.as_strided :: x.as_strided((2, 2), (1, 1))
Tensor.as_subclass :: x.as_subclass(TS)
Tensor.new :: x.new(2, 3)
Tensor.new_tensor :: x.new_tensor([1.0, 2.0])
Tensor.new_tensor[tensor] :: x.new_tensor(y)
Tensor.new_zeros :: x.new_zeros(2)
Tensor.new_full[tensor] :: x.new_full((4,), s)
Tensor.new_full[item] :: x.new_full((4,), s.item())
Tensor.new_full :: x.new_full((4,), 1.0)
Tensor.new_ones :: x.new_ones(2)
Tensor.new_empty :: x.new_empty(2)
Tensor.apply_ :: x.clone().apply_(lambda a: a + 1)
Tensor.map_ :: x.clone().map_(y, lambda a, b: a + b)
Tensor.masked_fill :: x.masked_fill(m, 0.0)
Tensor.masked_fill[tensor] :: x.masked_fill(m, s)
Tensor.masked_fill[-inf] :: x.masked_fill(m, float("-inf"))
Tensor.masked_fill_ :: x.clone().masked_fill_(m, 0.0)
Tensor.masked_scatter :: x.masked_scatter(m, y)
Tensor.index_put_[mask] :: x.clone().index_put_((m,), s)
Tensor.index_fill_ :: x.clone().index_fill_(0, i, 1.0)
Tensor.scatter_ :: x.clone().scatter_(1, i[:, None], 1.0)
Tensor.scatter_[item] :: x.clone().scatter_(1, i[:, None], s.item())
Tensor.index_add_ :: x.clone().index_add_(0, i, y)
Tensor.zero_ :: x.clone().zero_()
Tensor.uniform_ :: x.clone().uniform_(-1, 1)
Tensor.normal_ :: x.clone().normal_()
Tensor.bernoulli_ :: x.clone().bernoulli_(0.5)
Tensor.random_ :: x.clone().random_()
Tensor.exponential_ :: x.clone().exponential_()
Tensor.geometric_ :: x.clone().geometric_(0.5)
Tensor.cauchy_ :: x.clone().cauchy_()
Tensor.log_normal_ :: x.clone().log_normal_()
Tensor.multinomial :: x.softmax(-1).multinomial(1)
Tensor.sum[dim] :: x.sum(-1)
Tensor.any[if] :: (1 if m.any() else 2)
Tensor.all[if] :: (1 if m.all() else 2)
Tensor.max[if] :: (1 if x.max() > 0 else 2)
Tensor.max[pair] :: x.max(-1).values
Tensor.isnan[any if] :: (1 if x.isnan().any() else 2)
Tensor.equal :: x.equal(y)
Tensor.allclose :: x.allclose(y)
Tensor.split[tolist] :: x.split(k.tolist())
Tensor.split_with_sizes[tolist] :: x.split_with_sizes(k.tolist())
Tensor.unique :: x.unique()
Tensor.nonzero :: m.nonzero()
Tensor.nonzero[as_tuple] :: m.nonzero(as_tuple=True)
Tensor.nonzero[shape] :: m.nonzero().shape[0]
Tensor.bincount :: i.bincount()
Tensor.argwhere :: m.argwhere()
Tensor.masked_select :: x.masked_select(m)
Tensor.repeat[item] :: x.repeat(n.item(), 1)
Tensor.repeat[tensor] :: x.repeat(n, 1)
Tensor.repeat :: x.repeat(2, 1)
Tensor.topk[item] :: x.topk(n.item())
Tensor.sparse_mask :: A = torch.eye(4).to_sparse() :: x.sparse_mask(A)
Tensor.to_sparse :: x.to_sparse()
Tensor.to_sparse_csr :: x.to_sparse_csr()
Tensor.to_dense :: A = torch.eye(4).to_sparse() :: A.to_dense()
Tensor.coalesce :: A = torch.eye(4).to_sparse() :: A.coalesce()
Tensor.indices :: A = torch.eye(4).to_sparse() :: A.indices()
Tensor.values[sparse] :: A = torch.eye(4).to_sparse() :: A.values()
Tensor.to_mkldnn :: x.to_mkldnn()
Tensor.stft :: torch.randn(128).stft(16, return_complex=True, window=torch.hann_window(16))
Tensor.storage_type :: x.storage_type()
Tensor.dim_order :: x.dim_order()
Tensor.double :: x.double()
Tensor.half :: x.half()
Tensor.bfloat16 :: x.bfloat16()
Tensor.int :: x.int()
Tensor.contiguous[channels_last] :: x[None, None].contiguous(memory_format=torch.channels_last)
Tensor.to[memory_format] :: x[None, None].to(memory_format=torch.channels_last)
"""

BLOCKS["modules, parameters, optimizers"] = """
Module.train :: MOD.train()
Module.eval :: MOD.eval()
Module.train[submodule] :: NET.a.train(False)
Module.training :: MOD.training
Module.training[if] :: (1 if MOD.training else 2)
Module.training[assign] :: MOD.training = False
Module.to :: MOD.to("cpu")
Module.to[dtype] :: MOD.to(torch.float32)
Module.half :: nn.ReLU().half()
Module.float :: MOD.float()
Module.cpu :: MOD.cpu()
Module.requires_grad_ :: MOD.requires_grad_(False)
Module.zero_grad :: MOD.zero_grad()
Module.state_dict :: MOD.state_dict()
Module.state_dict[keys] :: list(MOD.state_dict())
Module.load_state_dict :: SD = MOD.state_dict() :: MOD.load_state_dict(SD)
Module.apply :: MOD.apply(lambda q: None)
Module.register_buffer :: MOD.register_buffer("buf", x * 1)
Module.register_buffer[self buffer again] :: NET.register_buffer("buf", x * 1)
Module.register_parameter :: P = nn.Parameter(torch.zeros(4)) :: MOD.register_parameter("q", P)
Module.register_module :: SUB = nn.ReLU() :: MOD.register_module("q", SUB)
Module.add_module :: SUB = nn.ReLU() :: MOD.add_module("q", SUB)
Module.register_forward_hook :: MOD.register_forward_hook(lambda a, b, o: o + 1)
Module.register_forward_hook[remove] :: h = MOD.register_forward_hook(lambda a, b, o: o + 1); z = MOD(x); h.remove()
Module.register_forward_pre_hook :: MOD.register_forward_pre_hook(lambda a, b: b)
Module.register_full_backward_hook :: MOD.register_full_backward_hook(lambda a, b, o: None)
Module.__call__ :: MOD(x)
Module.__call__[forward hook before] :: MOD.register_forward_hook(lambda a, b, o: o + 1) :: MOD(x)
Module.__call__[forward pre hook before] :: MOD.register_forward_pre_hook(lambda a, b: None) :: MOD(x)
Module.__call__[full backward hook before] :: MOD.register_full_backward_hook(lambda a, b, o: None) :: MOD(g)
Module.__call__[hook prints] :: MOD.register_forward_hook(lambda a, b, o: print("a")) :: MOD(x)
Module.__call__[hook item] :: MOD.register_forward_hook(lambda a, b, o: o.sum().item()) :: MOD(x)
Module.__call__[global forward hook] :: HD = nn.modules.module.register_module_forward_hook(lambda a, b, o: None) :: MOD(x)
Module.forward :: MOD.forward(x)
Module.parameters :: list(MOD.parameters())
Module.parameters[next dtype] :: next(MOD.parameters()).dtype
Module.parameters[next device] :: next(MOD.parameters()).device
Module.named_parameters :: list(MOD.named_parameters())
Module.named_parameters[dict] :: dict(MOD.named_parameters())
Module.parameters[sum of squares] :: sum((p0 ** 2).sum() for p0 in MOD.parameters())
Module.buffers :: list(NET.buffers())
Module.named_buffers :: dict(NET.named_buffers())
Module.modules :: list(NET.modules())
Module.modules[isinstance] :: [q for q in NET.modules() if isinstance(q, nn.Linear)]
Module.named_modules :: dict(NET.named_modules())
Module.children :: list(NET.children())
Module.named_children :: dict(NET.named_children())
Module.get_submodule :: NET.get_submodule("a")
Module.get_parameter :: MOD.get_parameter("weight")
Module.get_buffer :: NET.get_buffer("buf")
Module.extra_repr :: MOD.extra_repr()
Module.__setattr__[tensor] :: MOD.cache = x * 2
Module.__setattr__[int] :: MOD.count = 3
Module.__setattr__[increment] :: NET.n += 1
Module.__setattr__[list append] :: NET.hist.append(x)
Module.__setattr__[dict] :: NET.reg["a"] = x * 2
Module.__setattr__[buffer] :: NET.buf = NET.buf + 1
Module.__setattr__[buffer in place] :: NET.buf.add_(1)
Module.__setattr__[buffer copy_] :: NET.buf.copy_(x)
Module.__setattr__[parameter] :: P = nn.Parameter(torch.zeros(4, 4)) :: MOD.weight = P
Module.__setattr__[module] :: SUB = nn.ReLU() :: MOD.act = SUB
Module.__setattr__[None] :: NET.cache = None
Module.__delattr__ :: NET.zz = 1 :: del NET.zz
Module.__dict__ :: len(MOD.__dict__)
Module._parameters :: MOD._parameters["weight"]
Module._modules :: list(NET._modules.items())
Module._buffers :: NET._buffers["buf"]
Module.__getattr__ :: MOD.weight
Module.__class__ :: MOD.__class__.__name__
Module.type :: MOD.type(torch.float32)
Module.share_memory :: MOD.share_memory()
torch.nn.ModuleList.__getitem__ :: NET.l[0](x)
torch.nn.ModuleList.__getitem__[slice] :: NET.l[:1]
torch.nn.ModuleList.__getitem__[tensor] :: NET.l[torch.tensor(1)](x)
torch.nn.ModuleList.__getitem__[item] :: NET.l[n.item() % 2](x)
torch.nn.ModuleList.__iter__ :: [q(x) for q in NET.l]
torch.nn.ModuleList.__len__ :: len(NET.l)
torch.nn.ModuleList.append :: NET.l.append(nn.ReLU())
torch.nn.ModuleList :: nn.ModuleList([nn.ReLU()])
torch.nn.ModuleDict.__getitem__ :: NET.d["a"](x)
torch.nn.ModuleDict.__contains__ :: "a" in NET.d
torch.nn.ModuleDict.items :: [q(x) for _, q in NET.d.items()]
torch.nn.ModuleDict :: nn.ModuleDict({"a": nn.ReLU()})
torch.nn.ParameterList.__iter__ :: PL = nn.ParameterList([torch.ones(4)]) :: [q + 1 for q in PL]
torch.nn.ParameterDict.__getitem__ :: PD = nn.ParameterDict({"a": torch.ones(4)}) :: PD["a"] + 1
torch.nn.Sequential.__call__ :: SQ = nn.Sequential(nn.Linear(4, 4), nn.ReLU()) :: SQ(x)
torch.nn.Sequential :: nn.Sequential(nn.ReLU())(x)
torch.nn.Sequential[global layers] :: nn.Sequential(*NET.l)(x)
torch.nn.Sequential.__getitem__ :: SQ = nn.Sequential(nn.Linear(4, 4), nn.ReLU()) :: SQ[0](x)
torch.nn.Parameter :: nn.Parameter(torch.zeros(4))
torch.nn.Parameter[from input] :: nn.Parameter(x)
torch.nn.Parameter[requires_grad=False] :: nn.Parameter(torch.zeros(4), requires_grad=False)
torch.nn.Buffer :: nn.Buffer(torch.zeros(4))
torch.nn.Linear :: nn.Linear(4, 4)
torch.nn.Linear[called] :: nn.Linear(4, 4)(x)
torch.nn.Conv2d :: nn.Conv2d(1, 1, 1)
torch.nn.LayerNorm :: nn.LayerNorm(4)
torch.nn.LayerNorm[called] :: nn.LayerNorm(4)(x)
torch.nn.LayerNorm[elementwise_affine=False] :: nn.LayerNorm(4, elementwise_affine=False)(x)
torch.nn.ReLU :: nn.ReLU()(x)
torch.nn.GELU :: nn.GELU()(x)
torch.nn.Softmax :: nn.Softmax(-1)(x)
torch.nn.Dropout :: nn.Dropout(0.5)(x)
torch.nn.MSELoss :: nn.MSELoss()(x, y)
torch.nn.L1Loss :: nn.L1Loss()(x, y)
torch.nn.CrossEntropyLoss :: nn.CrossEntropyLoss()(x, i)
torch.nn.BCEWithLogitsLoss :: nn.BCEWithLogitsLoss()(x, m.float())
torch.nn.CosineSimilarity :: nn.CosineSimilarity()(x, y)
torch.nn.MaxPool2d :: nn.MaxPool2d(2)(x[None, None])
torch.nn.Upsample :: nn.Upsample(scale_factor=2)(x[None, None])
torch.nn.Embedding :: nn.Embedding(4, 4)
torch.nn.Identity :: nn.Identity()(x)
torch.nn.ZeroPad2d :: nn.ZeroPad2d(1)(x[None])
torch.nn.BatchNorm1d[forward] :: BN = nn.BatchNorm1d(4) :: BN(x)
torch.nn.BatchNorm1d[eval] :: BN = nn.BatchNorm1d(4).eval() :: BN(x)
torch.nn.LSTM[forward] :: RN = nn.LSTM(4, 4) :: RN(x[None])
torch.nn.GRU[forward] :: RN = nn.GRU(4, 4) :: RN(x[None])
torch.nn.RNN[forward] :: RN = nn.RNN(4, 4) :: RN(x[None])
torch.nn.LSTMCell[forward] :: RN = nn.LSTMCell(4, 4) :: RN(x)
torch.nn.GRUCell[forward] :: RN = nn.GRUCell(4, 4) :: RN(x)
torch.nn.LSTM.flatten_parameters :: RN = nn.LSTM(4, 4) :: RN.flatten_parameters()
torch.nn.LSTM[packed] :: RN = nn.LSTM(4, 4, batch_first=True); PK = nn.utils.rnn.pack_padded_sequence(torch.randn(1, 4, 4), [4], batch_first=True) :: RN(PK)
torch.nn.MultiheadAttention[forward] :: MHA(x[None], x[None], x[None])
torch.nn.MultiheadAttention[eval] :: MHA.eval() :: MHA(x[None], x[None], x[None])
torch.nn.MultiheadAttention[mask] :: MHA(x[None], x[None], x[None], attn_mask=m)
torch.nn.TransformerEncoderLayer[forward] :: TE = nn.TransformerEncoderLayer(4, 2, batch_first=True) :: TE(x[None])
torch.nn.TransformerEncoderLayer[eval] :: TE = nn.TransformerEncoderLayer(4, 2, batch_first=True).eval() :: TE(x[None])
torch.nn.TransformerEncoder[forward] :: TE = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 2) :: TE(x[None])
torch.nn.TransformerEncoder[eval, padding mask] :: TE = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, batch_first=True), 2).eval() :: TE(x[None], src_key_padding_mask=w[None])
torch.nn.TransformerDecoder[forward] :: TD = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, batch_first=True), 1) :: TD(x[None], x[None])
torch.nn.Transformer[forward] :: TR = nn.Transformer(4, 2, 1, 1, batch_first=True) :: TR(x[None], x[None])
torch.nn.Transformer.generate_square_subsequent_mask :: nn.Transformer.generate_square_subsequent_mask(4)
torch.nn.EmbeddingBag[forward] :: EB = nn.EmbeddingBag(4, 4) :: EB(i[None])
torch.nn.AdaptiveLogSoftmaxWithLoss[forward] :: AL = nn.AdaptiveLogSoftmaxWithLoss(4, 6, [2, 4]) :: AL(x, i)
torch.nn.CTCLoss[forward] :: nn.CTCLoss()(torch.randn(5, 1, 4).log_softmax(-1), i[None, :2] + 1, torch.tensor([5]), torch.tensor([2]))
torch.nn.Unfold[forward] :: nn.Unfold(2)(x[None, None])
torch.nn.LazyLinear[forward] :: LZ = nn.LazyLinear(4) :: LZ(x)
torch.nn.DataParallel[forward] :: DP = nn.DataParallel(nn.Linear(4, 4)) :: DP(x)
torch.nn.Flatten :: nn.Flatten()(x)
torch.nn.Bilinear[forward] :: BL = nn.Bilinear(4, 4, 4) :: BL(x, x)
torch.optim.SGD :: torch.optim.SGD(MOD.parameters(), lr=0.1)
torch.optim.AdamW :: torch.optim.AdamW(MOD.parameters())
Optimizer.step[SGD] :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); MOD(torch.randn(4, 4)).sum().backward() :: OP.step()
Optimizer.step[Adam] :: OP = torch.optim.Adam(MOD.parameters()); MOD(torch.randn(4, 4)).sum().backward() :: OP.step()
Optimizer.step[AdamW] :: OP = torch.optim.AdamW(MOD.parameters()); MOD(torch.randn(4, 4)).sum().backward() :: OP.step()
Optimizer.step[AdamW,foreach=False] :: OP = torch.optim.AdamW(MOD.parameters(), foreach=False); MOD(torch.randn(4, 4)).sum().backward() :: OP.step()
Optimizer.step[LBFGS] :: OP = torch.optim.LBFGS(MOD.parameters(), max_iter=1) :: OP.step(lambda: (MOD(x) ** 2).sum())
Optimizer.step[no grads] :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1) :: OP.step()
Optimizer.zero_grad :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); MOD(torch.randn(4, 4)).sum().backward() :: OP.zero_grad()
Optimizer.zero_grad[set_to_none=False] :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); MOD(torch.randn(4, 4)).sum().backward() :: OP.zero_grad(set_to_none=False)
Optimizer.state_dict :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1) :: OP.state_dict()
Optimizer.load_state_dict :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); SD = OP.state_dict() :: OP.load_state_dict(SD)
Optimizer.param_groups :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1) :: OP.param_groups[0]["lr"]
Optimizer.param_groups[assign] :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1) :: OP.param_groups[0]["lr"] = 0.2
Optimizer.add_param_group :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); P = nn.Parameter(torch.ones(1)) :: OP.add_param_group({"params": [P]})
LRScheduler.step :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); OP.step(); LR = torch.optim.lr_scheduler.StepLR(OP, 5) :: LR.step()
LRScheduler.get_last_lr :: OP = torch.optim.SGD(MOD.parameters(), lr=0.1); OP.step(); LR = torch.optim.lr_scheduler.StepLR(OP, 5) :: LR.get_last_lr()
torch.optim.swa_utils.AveragedModel.update_parameters :: AM = torch.optim.swa_utils.AveragedModel(MOD) :: AM.update_parameters(MOD)
"""

BLOCKS["distributions"] = """
torch.distributions.Normal :: torch.distributions.Normal(x, 1.0)
torch.distributions.Normal[validate_args=False] :: torch.distributions.Normal(x, 1.0, validate_args=False)
torch.distributions.Normal[log_prob] :: torch.distributions.Normal(x, 1.0).log_prob(x)
torch.distributions.Normal[log_prob,validate_args=False] :: torch.distributions.Normal(x, 1.0, validate_args=False).log_prob(x)
torch.distributions.Normal[sample] :: torch.distributions.Normal(x, 1.0).sample()
torch.distributions.Normal[rsample] :: torch.distributions.Normal(x, 1.0).rsample()
torch.distributions.Normal[numbers] :: torch.distributions.Normal(0.0, 1.0).sample((4,))
torch.distributions.Normal[global, sample] :: D = torch.distributions.Normal(0.0, 1.0) :: D.sample((4,))
torch.distributions.Normal[global, log_prob] :: D = torch.distributions.Normal(0.0, 1.0) :: D.log_prob(x)
torch.distributions.Categorical :: torch.distributions.Categorical(logits=x)
torch.distributions.Categorical[sample] :: torch.distributions.Categorical(logits=x).sample()
torch.distributions.Categorical[log_prob] :: torch.distributions.Categorical(logits=x).log_prob(i)
torch.distributions.Categorical[entropy] :: torch.distributions.Categorical(logits=x).entropy()
torch.distributions.Categorical[probs] :: torch.distributions.Categorical(x.softmax(-1))
torch.distributions.Bernoulli :: torch.distributions.Bernoulli(logits=x)
torch.distributions.Bernoulli[sample] :: torch.distributions.Bernoulli(logits=x).sample()
torch.distributions.Uniform :: torch.distributions.Uniform(0.0, 1.0)
torch.distributions.Uniform[tensors] :: torch.distributions.Uniform(x, x + 1)
torch.distributions.Beta :: torch.distributions.Beta(v.abs() + 1, v.abs() + 1)
torch.distributions.Beta[sample] :: torch.distributions.Beta(v.abs() + 1, v.abs() + 1).sample()
torch.distributions.Dirichlet :: torch.distributions.Dirichlet(v.abs() + 1)
torch.distributions.Dirichlet[sample] :: torch.distributions.Dirichlet(v.abs() + 1).sample()
torch.distributions.Gamma[rsample] :: torch.distributions.Gamma(v.abs() + 1, v.abs() + 1).rsample()
torch.distributions.Poisson[sample] :: torch.distributions.Poisson(v.abs()).sample()
torch.distributions.MultivariateNormal :: torch.distributions.MultivariateNormal(v, torch.eye(4))
torch.distributions.Independent :: torch.distributions.Independent(torch.distributions.Normal(x, 1.0), 1)
torch.distributions.kl_divergence :: torch.distributions.kl_divergence(torch.distributions.Normal(x, 1.0), torch.distributions.Normal(x, 1.0))
torch.distributions.TransformedDistribution :: torch.distributions.TransformedDistribution(torch.distributions.Normal(x, 1.0), [torch.distributions.transforms.TanhTransform()])
torch.distributions.RelaxedOneHotCategorical[rsample] :: torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), logits=x).rsample()
torch.distributions.Laplace[log_prob] :: torch.distributions.Laplace(x, 1.0).log_prob(x)
torch.distributions.OneHotCategorical[sample] :: torch.distributions.OneHotCategorical(logits=x).sample()
torch.distributions.Distribution.set_default_validate_args :: torch.distributions.Distribution.set_default_validate_args(True)
"""

BLOCKS["other packages"] = """
PIL.Image.new :: from PIL import Image :: Image.new("L", (4, 4))
PIL.Image.new[size] :: from PIL import Image :: Image.new("L", (4, 4)).size[0]
PIL.Image.Image.resize :: from PIL import Image; IM = Image.new("L", (4, 4)) :: IM.resize((2, 2))
PIL.Image.Image.size :: from PIL import Image; IM = Image.new("L", (4, 4)) :: IM.size
PIL.Image.fromarray :: from PIL import Image :: Image.fromarray(np.zeros((4, 4), dtype=np.uint8))
scipy.special.expit :: import scipy.special :: scipy.special.expit(1.0)
scipy.linalg.norm :: import scipy.linalg :: scipy.linalg.norm([1.0])
scipy.optimize.linear_sum_assignment :: import scipy.optimize :: scipy.optimize.linear_sum_assignment(x.numpy())
sympy.Symbol :: import sympy :: sympy.Symbol("a")
einops.rearrange :: import einops :: einops.rearrange(x, "a b -> b a")
einops.repeat :: import einops :: einops.repeat(x, "a b -> a b c", c=2)
einops.reduce :: import einops :: einops.reduce(x, "a b -> a", "mean")
tqdm.tqdm :: import tqdm :: [q for q in tqdm.tqdm([1, 2], disable=True)]
networkx.Graph :: import networkx :: networkx.Graph()
pandas.DataFrame :: import pandas :: pandas.DataFrame({"a": [1]})
"""

HELPERS = """
import base64, collections, contextlib, copy, ctypes, dataclasses, datetime, decimal, enum, fractions, functools, gc, glob
import hashlib, inspect, io, itertools, json, logging, math, operator, os, pathlib, pickle, platform, random, re, secrets
import shutil, signal, socket, statistics, string, struct, subprocess, sys, tempfile, textwrap, threading, time, traceback
import typing, uuid, warnings, weakref, zlib, atexit
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DIR = os.environ.get("COMPILELINT_PROBE_DIR") or tempfile.mkdtemp()
FILE = os.path.join(DIR, "file")
LOG = logging.getLogger("probe")
LOG.addHandler(logging.NullHandler())
LOG.propagate = False
MOD = nn.Linear(4, 4)
MHA = nn.MultiheadAttention(4, 2, batch_first=True)
GEN = torch.Generator().manual_seed(0)
x0 = torch.ones(4, 4)

class Obj:
    pass

class TS(torch.Tensor):
    pass

class Mode(enum.Enum):
    A = "a"
    B = "b"

NT = collections.namedtuple("NT", "a b")

class TN(typing.NamedTuple):
    a: torch.Tensor
    b: int = 1

@dataclasses.dataclass
class DC:
    a: typing.Any
    b: int = 1
    c: list = dataclasses.field(default_factory=list)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.l = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.d = nn.ModuleDict({"a": nn.Linear(4, 4)})
        self.n = 0
        self.hist = []
        self.reg = {}
        self.cache = None
        self.register_buffer("buf", torch.zeros(4, 4))

NET = Net()

@contextlib.contextmanager
def CM0():
    yield 1

class AF(torch.autograd.Function):
    @staticmethod
    def forward(ctx, t):
        ctx.save_for_backward(t)
        return t * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2

class AFI(AF):
    @staticmethod
    def forward(ctx, t):
        ctx.n = t.sum().item()
        return t * 2

class AFP(AF):
    @staticmethod
    def backward(ctx, grad):
        print("backward")
        return grad * 2

class AFPF(AF):
    @staticmethod
    def forward(ctx, t):
        print("forward")
        return t * 2

class AFN(AF):
    @staticmethod
    def forward(ctx, t):
        return torch.from_numpy(t.detach().numpy() * 2)

def HELPER(t):
    return t + 1

def init_dist():
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)

sys.stdin = io.StringIO("a\\n" * 100)
"""


@cache
def entries() -> list[tuple[str, str, str]]:
    """(target, setup, code) of every line, the target by its canonical name."""
    result = []
    for block in BLOCKS.values():
        for line in block.strip().splitlines():
            target, *parts = line.split(" :: ")
            if target.startswith("np."):
                target = "numpy." + target[3:]
            result.append((target, parts[0] if len(parts) == 2 else "", parts[-1]))
    return result


def operands() -> dict[str, Any]:
    """The tensors a probe may name."""
    import torch

    torch.manual_seed(0)
    random = torch.randn(4, 4)
    return {
        "x": random,
        "y": torch.randn(4, 4),
        "v": torch.randn(4),
        "i": torch.tensor([0, 1, 2, 1]),
        "m": random > 0,
        "w": torch.tensor([True, False, True, False]),
        "s": torch.tensor(2.5),
        "n": torch.tensor(3),
        "k": torch.tensor([1, 2, 1]),
        "c": torch.randn(4, 4, dtype=torch.complex64),
        "g": torch.randn(4, 4, requires_grad=True),
    }


def namespace() -> dict[str, Any]:
    """The globals of a probe."""
    import torch

    module = types.ModuleType("probe_globals")
    scope = module.__dict__
    linecache.cache["<probe helpers>"] = (len(HELPERS), None, HELPERS.splitlines(True), "<probe helpers>")
    sys.modules["probe_globals"] = module  # dataclasses look their module up
    exec(compile(HELPERS, "<probe helpers>", "exec"), scope)
    if not hasattr(torch.ops.probe, "raw"):
        _register_operators()
    scope["WITH_FAKE"], scope["NO_FAKE"] = _operators
    if scope.get("lambda_source") is None:
        scope["lambda_source"] = _script_me
    return scope


_operators: list[Any] = []


def _script_me(t):  # type: ignore[no-untyped-def]
    return t + 1


def _register_operators() -> None:
    import torch

    @torch.library.custom_op("probe::with_fake", mutates_args=(), schema="(Tensor t) -> Tensor")
    def with_fake(t: torch.Tensor) -> torch.Tensor:
        return t + 1

    @with_fake.register_fake
    def _(t: torch.Tensor) -> torch.Tensor:
        return torch.empty_like(t)

    @torch.library.custom_op("probe::no_fake", mutates_args=(), schema="(Tensor t) -> Tensor")
    def no_fake(t: torch.Tensor) -> torch.Tensor:
        return t + 1

    torch.library.define("probe::raw", "(Tensor t) -> Tensor")
    torch.library.impl("probe::raw", "cpu")(lambda t: t + 1)
    _operators.extend([with_fake, no_fake])


def can_return(index: int) -> bool:
    """Whether a line's code is an expression, whose value can be returned."""
    body = ast.parse(entries()[index][2]).body
    return len(body) == 1 and isinstance(body[0], ast.Expr)


def text(index: int, returned: bool = False) -> str:
    """The source of a probe's function; with `returned`, of the form that returns the value."""
    code = entries()[index][2]
    tree = ast.parse(code)
    body = [f"_r = {code}"] if returned else ast.unparse(tree).splitlines()
    lines = [f"def probe({', '.join(operand_names(index))}):", "    _y = x + 1", *("    " + line for line in body)]
    lines.append("    return _y * 2, _r" if returned else "    return _y * 2")
    return "\n".join(lines) + "\n"


def operand_names(index: int) -> list[str]:
    """The tensors that a probe's function takes."""
    used = {node.id for node in ast.walk(ast.parse(entries()[index][2])) if isinstance(node, ast.Name)}
    return ["x", *(name for name in OPERANDS if name != "x" and name in used)]


def build(index: int, returned: bool = False) -> tuple[Callable[..., Any], Callable[[], list[Any]]]:
    """The probe's function and a maker of its arguments; with `returned`, the form that returns the value."""
    target, setup, _ = entries()[index]
    source = text(index, returned)
    filename = f"<probe {target}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    scope = namespace()
    if setup:
        exec(compile(setup, "<setup>", "exec"), scope)
    exec(compile(source, filename, "exec"), scope)
    names = operand_names(index)

    def make() -> list[Any]:
        fresh = operands()
        return [fresh[name] for name in names]

    return scope["probe"], make
