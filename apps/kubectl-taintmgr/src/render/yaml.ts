// YAML 1.1 as other programs read it: what is a time or a truth there stands in quotes.
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
