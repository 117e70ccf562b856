// Documents as YAML: for other programs, and in one line for a command of ours.
import { stringify } from 'yaml';

/** YAML 1.1 is what other programs read: what is a time or a truth there stands in quotes. */
const options = {
  version: '1.1',
  indentSeq: false,
  lineWidth: 0,
  aliasDuplicateObjects: false,
} as const;

/** As kubectl writes it: lists are not indented, long lines are not folded. */
export function yamlOf(document: object): string {
  // Through JSON, so that what is undefined there is left out here as well.
  const plain: unknown = JSON.parse(JSON.stringify(document));
  return stringify(plain, options);
}

const inOneLine = {
  collectionStyle: 'flow',
  flowCollectionPadding: false,
  lineWidth: 0,
} as const;

/** `{at: 1m, drain: {node: "1"}}`: as people write it, in quotes what `readPositioned` takes for no text. */
export function yamlLineOf(document: object): string {
  return stringify(document, inOneLine).trimEnd();
}
