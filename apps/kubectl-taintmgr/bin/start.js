// Starts the whole program, or a file with no more of it than the arguments can ask for.

/**
 * `part` gives the file of one command: where it is, its source, its digest, and what loads others for
 * it. `help` gives the program's help with each item on one line. `everything` starts the whole; it gets
 * the command, '' where none comes first.
 */
exports.start = (args, { part, help, everything }) => {
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
  const { runKept } = require('./kept-code.js');
  const { file, source, digest, load } = part(first);
  // Each takes other code.
  const kept = [first, wordIn(second), digest].filter((word) => word !== '').join('-');
  runKept(file, source, kept, load);
};

/** Where the program's help is to be printed, an error where nothing was asked; null: nowhere. */
function helpStream([first, ...others]) {
  if (first === undefined) return 2;
  return others.length === 0 && ['--help', '-h', 'help'].includes(first) ? 1 : null;
}

function wordIn(text) {
  return /^[a-z][a-z-]*$/.test(text) ? text : '';
}
