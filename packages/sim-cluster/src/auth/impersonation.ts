// As whom somebody asks who impersonates another.
import type { Access } from './access.ts';
import type { User } from './authorizer.ts';

const groupOfAll = 'system:authenticated';

/**
 * The user as whom a request is made, by its Impersonate-User and Impersonate-Group headers; null
 * when the asking user may not speak for him.
 */
export function impersonated(
  access: Access,
  asking: User,
  headers: Readonly<Record<string, string>>,
): User | null {
  const name = headers['impersonate-user'];
  if (name === undefined) return asking;
  const given = (headers['impersonate-group'] ?? '').split(',').map((group) => group.trim());
  const groups = given.filter((group) => group !== '');
  const account = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name);
  const subject = account ? ['serviceaccounts', account[1], account[2]] : ['users', '', name];
  const subjects = [subject, ...groups.map((group) => ['groups', '', group])];
  const mayAll = subjects.every(([plural = '', namespace = '', subjectName = '']) => {
    const resource = { group: '', plural, subresource: '', namespace, name: subjectName };
    return access.judge(asking, { verb: 'impersonate', path: '', resource }).grant !== null;
  });
  if (!mayAll) return null;
  const own = account && groups.length === 0;
  const accountGroups = own
    ? ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`]
    : [];
  return access.named(name, [...groups, ...accountGroups, groupOfAll]);
}

/** The verb that the real server says was missing. */
export function impersonationVerb(name: string, verb: string): string {
  const kind = name.startsWith('system:serviceaccount:') ? 'serviceaccount' : 'user-info';
  return `impersonate-on:${kind}:${verb}`;
}
