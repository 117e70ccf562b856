// Starts the whole program, or a file with no more of it than the arguments can ask for.

/**
 * `part` gives a file with code of one command: where it is, its source, its digest; `load` what it asks
 * for: a module of Node, or by './' and name a file beside it. `help` gives the program's help with each
 * item on one line. `everything` starts the whole; it gets the command, '' where none comes first.
 */
exports.start = (args, { part, load, help, everything }) => {
  const stream = helpStream(args);
  if (stream !== null && require('./help.js').printHelp(help(), stream)) {
    process.exitCode = stream === 1 ? 0 : 1;
    return;
  }
  const [first = '', second = ''] = args;
  if (first !== 'explain') {
    everything(wordIn(first));
    return;
  }
  settle();
  const { runKept } = require('./kept-code.js');
  const { file, source, digest } = part(first);
  // Each question takes other code.
  const kept = [first, wordIn(second), digest].filter((word) => word !== '').join('-');
  runKept(file, source, kept, load);
};

/**
 * V8 works for long runs: it optimizes in threads what is hot, and collects garbage in several. Here they
 * would take a fifth of the processor for code that hardly runs any more, and be waited for. It also gives
 * a program that lives more and more room, and to touch new memory costs more than to collect in the little
 * that is there. A later Node may not know these flags, and would say so on stderr.
 */
function settle() {
  if (Number.parseInt(process.versions.node, 10) > newestSettled) return;
  // Under other flags V8 takes nothing of the code that Node keeps of its own modules.
  for (const id of used) require(id);
  const { setFlagsFromString } = require('node:v8');
  setFlagsFromString('--invocation-count-for-maglev=2000');
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--semi-space-growth-factor=1');
}

const newestSettled = 24;

/** The modules of Node that answers to most questions take; install:check sees one that is missing. */
const used = ['node:tls', 'node:timers/promises', 'node:os', 'node:vm', 'node:process'];

/** Where the program's help is to be printed, an error where nothing was asked; null: nowhere. */
function helpStream([first, ...others]) {
  if (first === undefined) return 2;
  return others.length === 0 && ['--help', '-h', 'help'].includes(first) ? 1 : null;
}

function wordIn(text) {
  return /^[a-z][a-z-]*$/.test(text) ? text : '';
}
