/** Where a command writes, and what it may assume about who reads it. */
export interface Output {
  /** Data: what a script reads. One call, one line or block without its line end. */
  out(text: string): void;
  /** Everything said to a person: progress, warnings, errors. */
  err(text: string): void;
  /** A person watches `err`, so one line may be rewritten in place. */
  readonly isLive: boolean;
}

/** The output of this process. */
export function processOutput(): Output {
  return {
    out: (text) => void process.stdout.write(`${text}\n`),
    err: (text) => void process.stderr.write(`${text}\n`),
    isLive: process.stderr.isTTY === true,
  };
}
