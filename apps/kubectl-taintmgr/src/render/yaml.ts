// Documents as YAML: for other programs, and in one line for a command of ours.
import { Document, stringify, visit } from 'yaml';
import { inEscapes, needsEscapes } from './printable.ts';

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
  const text = stringify(plain, options);
  return needsEscapes(text) ? quotedText(plain) : text;
}

/** In double quotes whatever has characters that need an escape. */
function quotedText(plain: unknown): string {
  const document = new Document(plain, options);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && needsEscapes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  return inEscapes(document.toString(options));
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
