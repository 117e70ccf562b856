/** A fault of the command line or of what it asks for: one line, exit code 1. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
