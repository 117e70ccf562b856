import { checkScheduling } from './scheduler.ts';

/** The vector files that can be read, by name without `.jsonl`: what differs in a line, or null. */
export const checks: Readonly<Record<string, (line: string) => string | null>> = {
  'scheduler-filter': checkScheduling,
  'scheduler-preemption': checkScheduling,
};
