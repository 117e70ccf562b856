// What the one program runs first: it carries the files of the package as assets, and starts the one that
// the arguments ask for.
const { getAsset } = require('node:sea');
const { runKept } = require('../bin/kept-code.js');
const { start } = require('../bin/start.js');
// With each item on one line.
const help = require('../dist/help.txt');

const digests = JSON.parse(getAsset('digests.json', 'utf8'));

start(process.argv.slice(2), {
  part,
  load,
  help: () => help,
  everything: (command) => {
    const { file, source, digest } = part('main');
    runKept(file, source, ['main', command, digest].filter((word) => word !== '').join('-'), load);
  },
});

function part(name) {
  const file = `${name}.js`;
  return { file, source: getAsset(file, 'utf8'), digest: digests[file] };
}

/** Modules of Node, and assets by the names that they have beside each other. */
function load(id) {
  if (!id.startsWith('./')) return require(id);
  const module = { exports: {} };
  const { file, source, digest } = part(id.slice('./'.length, -'.js'.length));
  runKept(file, source, `${id.slice('./'.length, -'.js'.length)}-${digest}`, load, module);
  return module.exports;
}
