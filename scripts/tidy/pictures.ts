// Checks that the pictures in the documentation are as recent as their sources: the page, the
// scenario, and its result.
import { createHash } from 'node:crypto';
import { type Fault, type Tree, withoutComments } from './tree.ts';

const folder = 'docs/scenarios';
/** One checksum of the pictures' sources: `npm run pictures` writes it with them. */
export const drawnFile = `${folder}/pictures.sha256`;
const pictures = ['zone-outage', 'losses'].flatMap((name) => [
  `${name}-light.png`,
  `${name}-dark.png`,
]);
const scenario = ['three-zones.yaml', 'zone-outage.yaml'];
const live = /^packages\/page\/src\/(browser|model)\/live\//;

/** The sources of the pictures in the repository. */
export function drawnBy(tree: Tree): string {
  const page = tree.files.filter((file) => {
    return /^packages\/page\/src\/(browser|model)\//.test(file) && !live.test(file);
  });
  const hash = createHash('sha256');
  for (const file of page) hash.update(codeIn(tree.read(file)));
  for (const file of scenario) hash.update(tree.read(`${folder}/${file}`));
  hash.update(answerIn(tree.read(`${folder}/README.md`)));
  return `${hash.digest('hex')}\n`;
}

/** The output of the scenario, which a test compares with the command's. */
function answerIn(readme: string): string {
  return new RegExp(`^\\$ .*--script ${scenario[1]}[^]*?\`\`\``, 'm').exec(readme)?.[0] ?? '';
}

export function oldPictures(tree: Tree): readonly Fault[] {
  if (tree.files.includes(drawnFile) && tree.read(drawnFile) === drawnBy(tree)) return [];
  return pictures.map((picture) => {
    const text = 'is older than the page or the scenario that it shows; npm run pictures';
    return { file: `${folder}/${picture}`, text };
  });
}

/** Without comments, and however its lines are broken. */
function codeIn(text: string): string {
  return withoutComments(text).replace(/\s+/g, ' ');
}
