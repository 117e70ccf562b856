// What stands at the beginning of the files in one program, of whose modules only the entry is at hand.

/** Where the program is, wherever a link to it may be. */
export const here =
  "const programUrl = require('node:url').pathToFileURL(require('node:fs').realpathSync(process.execPath)).href;";

/** `require` of the entry and of parts, which loads parts as well as what Node has. */
export const loadsParts = `
require = ((own) => {
  const loaded = new Map();
  const load = (id) => {
    if (!id.startsWith('./')) return own(id);
    const known = loaded.get(id);
    if (known) return known.exports;
    const module = { exports: {} };
    loaded.set(id, module);
    const source = own('node:sea').getAsset(id.slice(2), 'utf8');
    const names = ['exports', 'require', 'module'];
    own('node:vm').compileFunction(source, names, { filename: id })(module.exports, load, module);
    return module.exports;
  };
  return load;
})(require);
`;
