// Runs the program with what is kept compiled of it.
const { runKept } = require('./kept-code.js');

/** What reads the cluster once and says something of it. */
const questions = ['explain', 'history', 'pending', 'status'];

/** `file` is where the program is, `load` gives what it asks for: a module of Node, or by './' and name a file beside it. */
exports.start = (args, { file, source, load }) => {
  const [first = '', second = ''] = args;
  if (questions.includes(first)) settle();
  // Each command takes other code, and each question.
  const words = [wordIn(first), first === 'explain' ? wordIn(second) : ''];
  runKept(file, source, words, load);
};

/**
 * V8 works for long runs: it optimizes in threads what is hot, and collects garbage in several. Here they
 * would take a fifth of the processor for code that hardly runs any more, and be waited for. It also gives
 * a program that lives more and more room, and to touch new memory costs more than to collect in the little
 * that is there. A later Node may not know these flags, and would say so on stderr.
 */
function settle() {
  if (Number.parseInt(process.versions.node, 10) > newestSettled) return;
  // Under other flags V8 takes nothing of the code that Node keeps of its own modules, of which this one is the largest.
  require('node:tls');
  const { setFlagsFromString } = require('node:v8');
  setFlagsFromString('--invocation-count-for-maglev=2000');
  setFlagsFromString('--no-parallel-scavenge');
  setFlagsFromString('--semi-space-growth-factor=1');
}

const newestSettled = 24;

function wordIn(text) {
  return /^[a-z][a-z-]*$/.test(text) ? text : '';
}
