// Prints the program's help from a text that was made ready: to put the program together for it takes
// longer than all the rest.
const fs = require('node:fs');

/** Narrower texts are not wrapped any more. */
const narrowest = 30;

/** How wide help is where no terminal says how wide it is. */
const usual = 80;

/**
 * Prints the help with each item on one line (`text`) as wide as the terminal is. False: nothing was
 * printed, as the stream of the number `stream` does not take it.
 */
exports.printHelp = (text, stream) => {
  const bytes = Buffer.from(`${wrapHelp(text, columnsOf(stream))}\n`);
  try {
    const written = fs.writeSync(stream, bytes);
    // What a pipe does not take at once.
    if (written < bytes.length) streamOf(stream).write(bytes.subarray(written));
    return true;
  } catch {
    return false;
  }
};

/** As commander wraps it, whose text it is. */
exports.wrapHelp = wrapHelp;

function wrapHelp(text, columns) {
  return text
    .split('\n')
    .map((line) => {
      if (line.startsWith('Usage: ')) return line;
      const [term] = /^ {2}\S.*? {2,}/.exec(line) ?? [''];
      const width = columns - term.length;
      if (width < narrowest) return line;
      return `${term}${lines(line.slice(term.length), width).join(`\n${' '.repeat(term.length)}`)}`;
    })
    .join('\n');
}

/** Words go into a line for as long as there is room. */
function lines(text, width) {
  const [first = '', ...words] = text.split(' ');
  const all = [first];
  for (const word of words) {
    const last = `${all.at(-1)} ${word}`;
    if (last.length <= width) all[all.length - 1] = last;
    else all.push(word);
  }
  return all;
}

/** Only a terminal says it, and to ask whether one is there takes a while: it is no file and no pipe. */
function columnsOf(stream) {
  if (!fs.fstatSync(stream).isCharacterDevice()) return usual;
  const { isTTY, columns = usual } = streamOf(stream);
  return isTTY ? columns : usual;
}

function streamOf(stream) {
  return stream === 1 ? process.stdout : process.stderr;
}
