// What krew demands of a manifest before it installs anything, and what its index demands besides.
// Each rule says what is wrong with a manifest, if anything.

const apiVersion = 'krew.googlecontainertools.github.com/v1alpha2';
const version = /^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;
const shortMax = 50;

const manifestRules = [
  ['apiVersion', (manifest) => manifest.apiVersion === apiVersion],
  ['kind', (manifest) => manifest.kind === 'Plugin'],
  ['a name of lower-case words', ({ metadata }) => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(metadata.name)],
  ['a semantic version after a v', ({ spec }) => version.test(spec.version)],
  ['a short description of one line', ({ spec }) => /^[^\r\n]+$/.test(spec.shortDescription)],
  [`at most ${shortMax} characters of it`, ({ spec }) => spec.shortDescription.length <= shortMax],
  ['a description', ({ spec }) => spec.description.trim() !== ''],
  ['a home page', ({ spec }) => isUrl(spec.homepage)],
  ['platforms', ({ spec }) => spec.platforms.length > 0],
  ['each platform once', ({ spec }) => isDistinct(spec.platforms.map(selectorText))],
];

const platformRules = [
  ['a uri of an archive', ({ uri }) => isUrl(uri) && /\.(tar\.gz|zip)$/.test(uri)],
  ['a sha256 in lower-case', ({ sha256 }) => /^[a-f0-9]{64}$/.test(sha256)],
  ['files, or none at all', ({ files }) => files === undefined || files.every(isMove)],
  ['a bin', ({ bin }) => typeof bin === 'string' && bin !== ''],
  ['a bin that Windows runs', ({ bin, selector }) => !isWindows(selector) || bin.endsWith('.exe')],
  [
    'a selector of os and arch',
    ({ selector }) => Object.keys(selector.matchLabels).sort().join() === 'arch,os',
  ],
];

/** What is wrong with a manifest; empty where krew takes it. */
export function krewFaults(manifest) {
  const { platforms = [] } = manifest.spec;
  return [
    ...manifestRules.filter(([, holds]) => !holds(manifest)).map(([want]) => `want ${want}`),
    ...platforms.flatMap((platform, index) =>
      platformRules
        .filter(([, holds]) => !holds(platform))
        .map(([want]) => `platforms[${index}]: want ${want}`),
    ),
  ];
}

function isUrl(text) {
  return URL.canParse(text) && text.startsWith('https://');
}

function isDistinct(texts) {
  return new Set(texts).size === texts.length;
}

function selectorText({ selector }) {
  return JSON.stringify(selector);
}

function isWindows({ matchLabels }) {
  return matchLabels.os === 'windows';
}

function isMove({ from, to }) {
  return from !== '' && to !== '';
}
