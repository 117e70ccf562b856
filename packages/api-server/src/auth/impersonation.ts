// Reads the user whom a request impersonates from its headers.

import type { Extra, User } from '@taintmgr/sim-cluster/server';
import { badRequest, setOwn } from '@taintmgr/sim-cluster/server';
import type { Access } from './access.ts';
import { serviceAccountUser } from './authorizer.ts';

const authenticated = 'system:authenticated';
const unauthenticated = 'system:unauthenticated';
const authentication = 'authentication.k8s.io';
const extraPrefix = 'impersonate-extra-';

type Headers = Readonly<Record<string, string>>;

/** A user as the impersonation headers of a request name one. */
interface Wanted {
  readonly name: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Extra;
}

/**
 * The user as whom a request is made, by its Impersonate-User, -Group, -Uid and -Extra-KEY headers; null
 * when the asking user may not speak for him. Throws ApiError 400 for headers that name no user.
 */
export function impersonated(access: Access, asking: User, headers: Headers): User | null {
  const wanted = wantedBy(headers);
  if (!wanted) return asking;
  const { name, uid, groups, extra } = wanted;
  const [, namespace, account] = /^system:serviceaccount:([^:]+):([^:]+)$/.exec(name) ?? [];
  const isAccount = namespace !== undefined && account !== undefined;
  const may = (group: string, plural: string, subjectName: string, more: object = {}): boolean => {
    const place = { subresource: '', namespace: '', ...more };
    const resource = { group, plural, name: subjectName, ...place };
    return access.judge(asking, { verb: 'impersonate', path: '', resource }).grant !== null;
  };
  const mayAll =
    (isAccount ? may('', 'serviceaccounts', account, { namespace }) : may('', 'users', name)) &&
    (uid === '' || may(authentication, 'uids', uid)) &&
    groups.every((group) => may('', 'groups', group)) &&
    Object.entries(extra).every(([key, values]) =>
      values.every((value) => may(authentication, 'userextras', value, { subresource: key })),
    );
  if (!mayAll) return null;
  const { rules } = access.named(name);
  const own = isAccount && groups.length === 0;
  const named = own ? serviceAccountUser(namespace, account).groups : groups;
  return {
    name,
    ...(uid === '' ? {} : { uid }),
    groups: withGroupOfAll(name, named),
    ...(Object.keys(extra).length > 0 ? { extra } : {}),
    rules,
  };
}

/** The user that the headers name; null: the request impersonates no user. */
function wantedBy(headers: Headers): Wanted | null {
  const name = headers['impersonate-user'] ?? '';
  const uid = headers['impersonate-uid'] ?? '';
  const groups = listed(headers['impersonate-group']);
  const extra: Record<string, readonly string[]> = {};
  for (const [header, values] of Object.entries(headers)) {
    if (!header.startsWith(extraPrefix)) continue;
    const key = unescaped(header.slice(extraPrefix.length)).toLowerCase();
    setOwn(extra, key, listed(values));
  }
  const wanted = { name, uid, groups, extra };
  if (name !== '') return wanted;
  if (uid === '' && groups.length === 0 && Object.keys(extra).length === 0) return null;
  throw badRequest(`requested ${shown(wanted)} without impersonating a user name`);
}

/** The values of a header that came more than once. */
function listed(values = ''): readonly string[] {
  return values
    .split(',')
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

/** A user in the form in which Go prints it. */
function shown({ name, uid, groups, extra }: Wanted): string {
  const texts = (values: readonly string[]): string =>
    `{${values.map((value) => JSON.stringify(value)).join(', ')}}`;
  const keys = Object.entries(extra)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, values]) => `${JSON.stringify(key)}:[]string${texts(values)}`);
  const shownGroups = groups.length > 0 ? `[]string${texts(groups)}` : '[]string(nil)';
  const map = 'map[string][]string';
  const shownExtra = keys.length > 0 ? `${map}{${keys.join(', ')}}` : `${map}(nil)`;
  return `&user.DefaultInfo{Name:${JSON.stringify(name)}, UID:${JSON.stringify(uid)}, Groups:${shownGroups}, Extra:${shownExtra}}`;
}

function withGroupOfAll(name: string, groups: readonly string[]): readonly string[] {
  if (name !== 'system:anonymous' && groups.includes(unauthenticated)) return groups;
  const group = name === 'system:anonymous' ? unauthenticated : authenticated;
  return groups.includes(group) ? groups : [...groups, group];
}

/** The verb that the real server says was missing. */
export function impersonationVerb(name: string, verb: string): string {
  const kind = name.startsWith('system:serviceaccount:') ? 'serviceaccount' : 'user-info';
  return `impersonate-on:${kind}:${verb}`;
}
