// Starts the whole program, or a file with no more of it than the arguments can ask for.

/**
 * `part` gives the file of one command: where it is, its source, its digest, and what loads others for
 * it. `everything` starts the whole; it gets the command, '' where none comes first.
 */
exports.start = ([first = '--help', second = ''], { part, everything }) => {
  const name = partFor(first, second);
  if (name === null) {
    everything(wordIn(first));
    return;
  }
  const { runKept } = require('./kept-code.js');
  const { file, source, digest, load } = part(name);
  // Each takes other code.
  const kept = [name, wordIn(second), digest].filter((word) => word !== '').join('-');
  runKept(file, source, kept, load);
};

/** Null: it may take everything. */
function partFor(first, second) {
  if (first === 'explain') return first;
  return second === '' && ['--help', '-h', 'help'].includes(first) ? 'help' : null;
}

function wordIn(text) {
  return /^[a-z][a-z-]*$/.test(text) ? text : '';
}
