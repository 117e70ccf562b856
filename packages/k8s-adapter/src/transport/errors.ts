/** The words of an error; those of its parts where it has none (a host with several addresses). */
export function describeError(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.map(describeError).join('; ');
  }
  if (!(error instanceof Error)) return String(error);
  return error.message.trim() || error.name;
}
