/** A configuration that cannot be used; the message is one line for the person who wrote it. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}
