// Inputs that people give by mistake in place of objects: their names, and what to give instead.

const objects = 'want objects, as kubectl get -o json or kubectl taintmgr snapshot prints them';

/** Texts by how they begin. */
const texts: readonly (readonly [begin: RegExp, what: string])[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no text has.
  [/[\0-\x08\x0e-\x1a\x1c-\x1f]/, 'this is no text'],
  [/^\s*<(!DOCTYPE|html|\?xml)/i, 'this is a web page, as a proxy or a login prints one'],
  [/^\s*NAME(SPACE)?( {2,}|\r?\n|$)/, 'this is a table, which is for people to read'],
  [/^\s*Name: {2,}\S/, 'this is what kubectl describe prints, which is for people to read'],
  [
    /^\s*(error: |Error from server|Unable to connect|The connection to the server|No resources found)/,
    'this is what kubectl says in place of objects',
  ],
];

/** The name of a text without objects, by its beginning; null: the text may hold objects. */
export function strangerIn(begin: string): string | null {
  const what = texts.find(([pattern]) => pattern.test(begin))?.[1];
  return what === undefined ? null : `${what}; ${objects}`;
}

/** Values by a member that no object of Kubernetes has. */
const members: readonly (readonly [member: string, what: string])[] = [
  ['events', 'this is a script, which --script takes'],
  ['runs', 'this is what simulate has printed'],
  ['losses', 'this is what simulate has printed'],
  ['object', 'this is an event of a watch; leave out --output-watch-events'],
];

const kinds: Readonly<Record<string, string>> = {
  FlightRecord: 'this is a flight record, which --replay takes',
  Config: 'this is a kubeconfig, which --kubeconfig takes',
  Kustomization: 'this is a kustomization; kubectl kustomize FOLDER prints its objects',
};

/** The name of a value that is no object of Kubernetes; null: the value may be an object. */
export function mistakeOf(value: unknown): string | null {
  if (value === null) return null;
  if (typeof value !== 'object') return 'this is no object of Kubernetes';
  const { kind, metadata, message } = value as Record<string, unknown>;
  if (kind === 'Status') return `the API server answered: ${JSON.stringify(message)}`;
  const known = typeof kind === 'string' && Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  if (known !== undefined) return known;
  if (metadata !== undefined || Array.isArray(value)) return null;
  const found = members.find(([member]) => member in value);
  if (found) return found[1];
  return kind === undefined ? 'this is no object of Kubernetes: it has no kind' : null;
}

/** The next step for a text that is no YAML, where the text is a template; '': no template. */
export function templateHint(text: string): string {
  return text.includes('{{') ? '; this is a template: give what helm template prints' : '';
}
