// Documents as YAML: for other programs, and in one line for a command of ours.

import { inEscapes, needsEscapes } from '@taintmgr/k8s-adapter/command-line';
import { goScalar } from '@taintmgr/k8s-adapter/manifests';
import { Document, type Tags, type ToStringOptions, visit } from 'yaml';

/** Other programs read YAML 1.1: texts that are times or booleans there stand in quotes. */
const options = {
  version: '1.1',
  aliasDuplicateObjects: false,
  // Nothing is merged here: `<<` is a text as any other.
  customTags: (tags: Tags): Tags =>
    tags.filter((tag) => typeof tag === 'string' || tag.tag !== 'tag:yaml.org,2002:merge'),
} as const;

/** As kubectl writes it: lists are not indented, long lines are not folded. */
export function yamlOf(document: object): string {
  // Through JSON, so that undefined members are left out here as well.
  const plain: unknown = JSON.parse(JSON.stringify(document));
  return textOf(plain, { indentSeq: false, lineWidth: 0 });
}

/** In double quotes whatever Go takes for no text, and what has characters that need an escape. */
function textOf(value: unknown, form: ToStringOptions): string {
  const document = new Document(value, options);
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value !== 'string') return;
      const isText = goScalar(node.value) === node.value && node.value !== '<<';
      if (!isText || needsEscapes(node.value)) node.type = 'QUOTE_DOUBLE';
    },
  });
  const text = document.toString(form);
  return needsEscapes(text) ? inEscapes(text) : text;
}

/** `{at: 1m, drain: {node: "1"}}`: as people write it, in quotes what `readPositioned` takes for no text. */
export function yamlLineOf(document: object): string {
  return textOf(document, {
    collectionStyle: 'flow',
    flowCollectionPadding: false,
    lineWidth: 0,
  }).trimEnd();
}
