// Runs a file with what V8 has compiled of it before. Node's own cache keeps what is compiled when a
// file is loaded; this one, which is written after the first run that went well, all that it took.
const fs = require('node:fs');
const { homedir } = require('node:os');
const { join } = require('node:path');
const { Script } = require('node:vm');

/**
 * Runs `source`, a function that takes what a module of CommonJS does, as the module in `file`. `words` tell
 * what it is run for, and the digest that it begins with this very source: V8 itself looks at no more of it
 * than its length.
 */
exports.runKept = (file, source, words, load) => {
  const folder = folderOf(process.env);
  const [, digest] = /^\/\* (\w+) \*\//.exec(source);
  const name = [...words, digest, process.version, process.arch].filter((word) => word !== '');
  const path = folder && join(folder, `${name.join('-')}.code`);
  const cachedData = path ? read(path) : undefined;
  const script = new Script(source, { filename: file, cachedData });
  if (path && (cachedData === undefined || script.cachedDataRejected)) {
    process.once('exit', (code) => {
      if (code === 0) keep(folder, path, script);
    });
  }
  const module = { exports: {} };
  script.runInThisContext()(module.exports, load, module, file);
};

/** Null: nowhere. */
function folderOf({ NODE_DISABLE_COMPILE_CACHE, XDG_CACHE_HOME, LOCALAPPDATA }) {
  if (NODE_DISABLE_COMPILE_CACHE) return null;
  const caches = process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME || cachesAtHome();
  return caches ? join(caches, 'kubectl-taintmgr') : null;
}

function cachesAtHome() {
  try {
    return join(homedir(), process.platform === 'darwin' ? 'Library/Caches' : '.cache');
  } catch {
    // A user id without an entry in /etc/passwd, and no HOME, as containers may have.
    return null;
  }
}

/** Code that somebody else can write would be run as ours; what cannot be read is not there. */
function read(path) {
  let file = null;
  try {
    file = fs.openSync(path, 'r');
    const stats = fs.fstatSync(file);
    const isOurs = process.getuid === undefined || stats.uid === process.getuid();
    const isSafe = process.platform === 'win32' || (stats.mode & 0o022) === 0;
    return stats.isFile() && isOurs && isSafe ? fs.readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    if (file !== null) fs.closeSync(file);
  }
}

/** Whole or not at all: others may read it at the same time. Where it cannot be written, nothing is lost. */
function keep(folder, path, script) {
  const draft = `${path}.${process.pid}`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(draft, script.createCachedData(), { mode: 0o600, flag: 'wx' });
    fs.renameSync(draft, path);
  } catch {
    fs.rmSync(draft, { force: true });
  }
}
