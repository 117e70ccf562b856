// `--variant` as it stands on the command line, where nothing is loaded that reads policies.

import { InvalidArgumentError } from '@commander-js/extra-typings';

/** `--variant NAME=PATH`, as it is given. */
export interface VariantFlag {
  readonly name: string;
  /** A file or directory with policies, or one of the reserved words. */
  readonly from: string;
}

/** The rules of kube-controller-manager, in place of a file. */
export const upstreamWord = 'kube-controller-manager';
/** What is in force without a variant, in place of a file. */
export const unchangedWord = 'unchanged';

const namePattern = /^[A-Za-z][\w.-]{0,39}$/;

/** Reads one `--variant` beside those before it. Throws InvalidArgumentError. */
export function addVariant(
  text: string,
  before: readonly VariantFlag[] = [],
): readonly VariantFlag[] {
  const at = text.indexOf('=');
  const [name, from] = [text.slice(0, at), text.slice(at + 1)];
  if (at < 0 || !namePattern.test(name) || from === '') {
    const names = 'a NAME of at most 40 letters, digits, "_", "-" and "."';
    const reserved = `${unchangedWord} or ${upstreamWord}`;
    throw new InvalidArgumentError(`Want NAME=FILE or NAME=DIRECTORY, ${names}, or ${reserved}.`);
  }
  if (before.some((one) => one.name === name)) {
    throw new InvalidArgumentError(`There is a variant ${name} already.`);
  }
  return [...before, { name, from }];
}
