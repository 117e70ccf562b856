/** A setting that cannot be used: one line naming where it is, what it says and what is allowed. */
export class SettingError extends Error {
  override readonly name = 'SettingError';

  /** `where` is a flag, a variable, or a file and a field in it. */
  constructor(where: string, got: string, want: string) {
    super(`${where}: got ${JSON.stringify(got)}, want ${want}`);
  }

  /** One that needs a line of its own. */
  static saying(line: string): SettingError {
    const error = new SettingError('', '', '');
    error.message = line;
    return error;
  }
}
