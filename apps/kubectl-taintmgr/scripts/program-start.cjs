// The one program: it carries the files of the package as assets.
const { getAsset } = require('node:sea');
const { start } = require('../bin/start.js');

const file = 'main.js';
start(process.argv.slice(2), { file, source: getAsset(file, 'utf8'), load: require });
