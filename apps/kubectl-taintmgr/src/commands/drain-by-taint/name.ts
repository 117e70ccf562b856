// The names that drains get which are given none.
import { randomBytes } from 'node:crypto';
import { formatTime, type Instant } from '@taintmgr/core/time';

/** `drain-20261120-230839-7f3a`: when it began, and what distinguishes it from others of that second. */
export function newDrainName(now: Instant): string {
  const [date = '', time = ''] = formatTime(now).replace(/[-:Z]/g, '').split('T');
  return `drain-${date}-${time}-${randomBytes(2).toString('hex')}`;
}
