import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { archiveOf, fileOf, platforms } from './platforms.ts';

const program = 'kubectl-taintmgr';
const template = new URL('../krew/taintmgr.yaml', import.meta.url);

/**
 * The manifest for the archives that are in a folder, as YAML. In `url`, where people will download
 * them, {version} and {archive} stand for those. Throws where there is no archive.
 */
export function krewManifest({ version, folder, url, homepage }) {
  const found = platforms.filter((platform) =>
    existsSync(join(folder, archiveOf(program, platform, version))),
  );
  if (found.length === 0) throw new Error(`${folder} has no archives of version ${version}`);
  const { spec, ...head } = parse(readFileSync(template, 'utf8'));
  const entries = found.map((platform) => entryOf(platform, { version, folder, url }));
  const full = { version: `v${version}`, homepage, ...spec, platforms: entries };
  return stringify({ ...head, spec: full }, { blockQuote: 'literal', lineWidth: 0 });
}

function entryOf(platform, { version, folder, url }) {
  const archive = archiveOf(program, platform, version);
  const content = readFileSync(join(folder, archive));
  const { os, arch } = platform;
  return {
    selector: { matchLabels: { os, arch } },
    uri: url.replaceAll('{version}', version).replaceAll('{archive}', archive),
    sha256: createHash('sha256').update(content).digest('hex'),
    bin: fileOf(program, platform),
  };
}
