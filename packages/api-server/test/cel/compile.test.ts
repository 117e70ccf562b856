// CEL as Kubernetes runs it: what compiles, what does not and in which words, and what comes out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile, type Evaluated } from '../../src/cel/compile.ts';
import { type CelObject, listOf, mapOf, optionalOf, typeName } from '../../src/cel/type.ts';
import { CelError, lazyObject, optional, toCel } from '../../src/cel/value.ts';

const part: CelObject = {
  kind: 'object',
  name: 'object',
  fields: { a: 'int', __namespace__: 'string', with__dash__dash: 'string' },
};
const self: CelObject = {
  kind: 'object',
  name: 'object',
  fields: {
    size: 'int',
    share: 'double',
    name: 'string',
    part,
    sizes: listOf('int'),
    parts: listOf(part),
    labels: mapOf('string'),
    either: 'dyn',
    since: 'timestamp',
    after: 'duration',
  },
};
const variables = { self, oldSelf: optionalOf(self), object: 'dyn' } as const;

const bindings = {
  self: toCel(self, {
    size: 3,
    share: 1,
    name: 'ab',
    part: { a: 1, namespace: 'q', 'with-dash': 'd' },
    sizes: [1, 2],
    parts: [{ a: 1 }, { a: 2 }],
    labels: { xa: '1' },
    either: '5%',
    since: '2026-01-01T00:00:00Z',
    after: '1h',
  }),
  oldSelf: optional(undefined),
  object: toCel('dyn', {
    metadata: { name: 'pod', namespace: 'home', labels: { a: 'b' } },
    spec: { replicas: 3, share: 1.5, list: [1, { a: 1 }] },
  }),
};

function evaluated(expression: string): Evaluated {
  const compiled = compile(expression, variables);
  assert.ok('program' in compiled, JSON.stringify(compiled));
  return compiled.program.evaluate(bindings);
}

/** Message, column and mark of what does not compile. */
const refusals: readonly (readonly [string, number, string])[] = [
  ['self.sise > 1', 5, "undefined field 'sise'"],
  ['has(self.sise)', 4, "undefined field 'sise'"],
  ['has(self.sise.a)', 9, "undefined field 'sise'"],
  ['has(self.part.sise)', 4, "undefined field 'sise'"],
  ['self.parts.all(x, has(x.sise))', 22, "undefined field 'sise'"],
  ['self.parts.exists(x, x.b == 1)', 23, "undefined field 'b'"],
  [
    'self.size == self.name',
    11,
    "found no matching overload for '_==_' applied to '(int, string)'",
  ],
  ['self.name == null', 11, "found no matching overload for '_==_' applied to '(string, null)'"],
  ['self.size && true', 5, "expected type 'bool' but found 'int'"],
  ['true || self.name', 13, "expected type 'bool' but found 'string'"],
  ["true ? 1 : 'a'", 6, "found no matching overload for '_?_:_' applied to '(bool, int, string)'"],
  ['cel.bind(x, self.size, x < 5)', 1, "undeclared reference to 'cel' (in container '')"],
  ['[1].existsOne(x, x == 1)', 14, "undeclared reference to 'existsOne' (in container '')"],
  ['self.sizes.all(x)', 15, "undeclared reference to 'all' (in container '')"],
  ['[1].all(i, v, v)', 15, "expected type 'bool' but found 'int'"],
  ['[1].all(1, v, true)', 9, 'argument must be a simple name'],
  [
    'self.size.all(i, v, true)',
    5,
    "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
  ],
  [
    "self.size.matches('a')",
    18,
    "found no matching overload for 'matches' applied to 'int.(string)'",
  ],
  ["self.name.matches('(?=a)')", 19, 'invalid matches argument'],
  ["duration('1') > self.after", 10, 'invalid duration argument'],
  ["timestamp('2026') > self.since", 11, 'invalid timestamp argument'],
  ["[1, 'a'].size() == 2", 5, "expected type 'int' but found 'string'"],
  ["{'a': 1, 'b': 'c'}.size() == 2", 15, "expected type 'int' but found 'string'"],
  ["'%s'.format([]) == ''", 12, 'index 0 out of range'],
  [
    "'%d'.format([1, 2]) == ''",
    12,
    'too many arguments supplied to string.format (expected 1, got 2)',
  ],
  [
    "'%d'.format([self.name]) == ''",
    18,
    'error during formatting: decimal clause can only be used on integers, was given string',
  ],
  [
    "'%q'.format([1]) == ''",
    12,
    'could not parse formatting clause: unrecognized formatting clause "q"',
  ],
  ['self.name.reverse()', 18, "found no matching overload for 'reverse' applied to 'string.()'"],
  ['size(self.size)', 5, "found no matching overload for 'size' applied to '(int)'"],
  ['other.size > 1', 1, "undeclared reference to 'other' (in container '')"],
  ['now() > self.since', 4, "undeclared reference to 'now' (in container '')"],
  ['self.size ? 1 : 2', 5, "expected type 'bool' but found 'int'"],
];

for (const [expression, column, message] of refusals) {
  test(`does not compile: ${expression}`, () => {
    assert.deepEqual(compile(expression, variables), {
      error: `compilation failed: ERROR: <input>:1:${column}: ${message}\n | ${expression}\n | ${'.'.repeat(column - 1)}^`,
    });
  });
}

test('all errors of an expression are told, in the order of their places', () => {
  const compiled = compile('now(self.nope) + self.size > other && self.name', variables);
  const error = 'error' in compiled ? compiled.error : '';
  assert.deepEqual(
    [...error.matchAll(/ERROR: <input>:1:(\d+): (.*)/g)].map(([, at, text]) => [Number(at), text]),
    [
      [4, "undeclared reference to 'now' (in container '')"],
      [9, "undefined field 'nope'"],
      [30, "undeclared reference to 'other' (in container '')"],
      [43, "expected type 'bool' but found 'string'"],
    ],
  );
  const twice = compile('[1].map(i, v, v)', variables);
  assert.match('error' in twice ? twice.error : '', /:12: .*\n.*\n.*\n.*:15: undeclared/);
});

test('an expression that ends too early is a syntax error behind its end', () => {
  const compiled = compile('self.size >', variables);
  assert.match(
    'error' in compiled ? compiled.error : '',
    /^compilation failed: ERROR: <input>:1:12: Syntax error: mismatched input '<EOF>' expecting .*\n \| self\.size >\n \| \.{11}\^$/,
  );
});

test('a text without its end is two syntax errors', () => {
  const compiled = compile("'a", variables);
  const text = 'error' in compiled ? compiled.error : '';
  assert.match(text, /ERROR: <input>:1:1: Syntax error: token recognition error at: ''a'\n/);
  assert.match(text, /ERROR: <input>:1:3: Syntax error: mismatched input '<EOF>'/);
});

test('an error in a later line names that line and shows it', () => {
  const compiled = compile('self.size > 1 &&\n  self.sise > 1', variables);
  assert.deepEqual(compiled, {
    error:
      "compilation failed: ERROR: <input>:2:7: undefined field 'sise'\n |   self.sise > 1\n | ......^",
  });
});

const truths: readonly string[] = [
  'self.size > 1.5 && self.share == 1.0',
  'self.part == self.part && self.parts == self.parts && self.parts[0] != self.parts[1]',
  "self.part.__namespace__ == 'q' && self.part.with__dash__dash == 'd' && has(self.part.a)",
  "object.metadata.namespace == 'home' && object.spec.replicas == 3 && object.spec.share == 1.5",
  "object.?spec.?missing.orValue('') == '' && object.spec[?'replicas'].orValue(1) == 3",
  "self.name.charAt(0) == 'a' && self.name.replace('a', 'c') == 'cb' && self.name.upperAscii() == 'AB'",
  "'aaa'.replace('a', 'b', 2) == 'bba' && 'a1b2'.findAll('[0-9]') == ['1', '2'] && 'a1'.find('[0-9]') == '1'",
  '[3, 1].isSorted() == false && [1, 2].sum() == 3 && [1, 2].min() == 1 && [1, 2].max() == 2',
  '[1, 2].indexOf(2) == 1 && [2, 1].sort() == [1, 2] && [1, 1].distinct() == [1]',
  '[[1], [2]].flatten() == [1, 2] && [1, 2, 3].slice(0, 1) == [1] && lists.range(2) == [0, 1]',
  'sets.contains([1, 2], [1]) && sets.equivalent([1, 2], [2, 1]) && !sets.intersects([1], [2])',
  "isQuantity('1Gi') && quantity('1Gi').isGreaterThan(quantity('1Mi')) && !isQuantity('x')",
  "quantity('1k') == quantity('1000') && quantity('2').add(1).asInteger() == 3",
  "'%d-%s-%.2f-%x'.format([1, 'a', 1.5, 255]) == '1-a-1.50-ff'",
  'strings.quote(self.name) == \'"ab"\'',
  "string(self.since) == '2026-01-01T00:00:00Z' && int(self.since) == 1767225600",
  "self.since > timestamp('2020-01-01T00:00:00Z') && self.after >= duration('60m')",
  "self.either == '5%' || self.either == 5",
  "'xa' in self.labels && self.labels.all(k, k.startsWith('x')) && self.labels['xa'] == '1'",
  "'%d %s %.1f %e %x %X %o %b'.format([3u, true, 2.25, 1052.5, 'ab', 255, 8, 5]) == '3 true 2.3 1.052500e+03 6162 FF 10 101'",
  "'%s'.format([{'b': [1, 2.5, null], 'a': ['x']}]) == '{\"a\":[\"x\"], \"b\":[1, 2.500000, null]}'",
  "'%s %s %s%%'.format([self.since, self.after, type(1)]) == '2026-01-01T00:00:00Z 3600s int%'",
  "'%s'.format([[self.after, b'a']]) == '[duration(\"3600s\"), b\"a\"]' && '%f'.format(['NaN']) == 'NaN'",
  'self.sizes.all(i, v, i < v) && self.labels.exists(k, v, k == "xa" && v == "1")',
  'self.sizes.exists(i, v, 1 / (v - 1) == 9 || v == 2) && self.sizes.existsOne(i, v, v == 1)',
  'self.sizes.all(i, v, self.sizes.all(j, w, (i < j) == (v < w))) && [].all(i, v, false)',
  "self.sizes.transformList(i, v, i * v) == [0, 2] && self.labels.transformList(k, v, k) == ['xa']",
  "self.sizes.transformList(i, v, i > 0, v) == [2] && {'a': 1}.transformMap(k, v, v + 1) == {'a': 2}",
  "self.sizes.transformMap(i, v, v > 1, v) == {1: 2} && self.labels.transformMapEntry(k, v, {v: k})['1'] == 'xa'",
  "object.metadata.labels.all(k, v, v == 'b') && object.spec.list.exists(i, v, i == 0 && v == 1)",
  '[3, 1, 2].sortBy(x, -x) == [3, 2, 1] && [[[1]], [[2]]].flatten(2) == [1, 2]',
  'optional.of(1).optMap(x, x + 1) == optional.of(2) && !optional.none().optMap(x, x).hasValue()',
  'optional.of(1).optFlatMap(x, optional.none()) == optional.none()',
  "'ABC'.matches('(?i)^abc$') && matches('a\\nb', '(?s)a.b') && self.name.find('(?i)B') == 'b'",
  "format.dns1123Label().validate('abc') == optional.none() && format.named('none') == optional.none()",
  "format.dns1123Label().validate('a_b').value()[0].startsWith('a lowercase RFC 1123 label must')",
  "format.labelValue().validate('-').hasValue() && !format.dns1123LabelPrefix().validate('a-').hasValue()",
  "!format.uri().validate('https://a/b').hasValue() && format.uuid().validate('x').value() == ['does not match the UUID format']",
  '!oldSelf.hasValue() || self.size >= oldSelf.value().size',
  'object.spec.missing.deeper == 1 || true',
  'self.parts.exists_one(x, x.a == 1) && self.sizes.map(x, x * 2) == [2, 4]',
  'type(self.size) == int && dyn(self.size) != "a"',
  "isIP('1.2.3.4') && ip('1.2.3.4').family() == 4 && isIP('fe80::1') && ip('fe80::1').family() == 6",
  "!isIP('1.2.3') && !isIP('01.2.3.4') && !isIP('1.2.3.256') && !isIP('::1%eth0') && !isIP('::ffff:1.2.3.4')",
  "ip('127.0.0.1').isLoopback() && ip('::').isUnspecified() && ip('169.254.1.1').isLinkLocalUnicast()",
  "ip('10.0.0.1').isGlobalUnicast() && !ip('224.0.0.1').isGlobalUnicast() && ip('ff02::1').isLinkLocalMulticast()",
  "string(ip('2001:DB8:0:0::1')) == '2001:db8::1' && ip('::1') == ip('0:0:0:0:0:0:0:1') && ip('::') != ip('0.0.0.0')",
  "cidr('10.0.0.0/8').containsIP('10.1.1.1') && !cidr('10.0.0.0/8').containsIP(ip('11.0.0.0'))",
  "cidr('2001:db8::/32').containsIP('2001:db8:ffff::1') && !cidr('0.0.0.0/0').containsIP('::1')",
  "cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') && !cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))",
  "string(cidr('10.1.2.3/8').masked()) == '10.0.0.0/8' && cidr('10.1.2.3/8').ip() == ip('10.1.2.3')",
  "cidr('10.0.0.0/8').prefixLength() == 8 && !isCIDR('10.0.0.0') && !isCIDR('10.0.0.0/33') && isCIDR('::/128')",
  "isURL('https://a.b/c') && url('https://a.b:8/c%20d?x=1&x=2').getHost() == 'a.b:8'",
  "url('https://[::1]:8/c%20d?x=1&x=2').getHostname() == '::1' && url('https://a:8/').getPort() == '8'",
  "url('/a?x=1').getEscapedPath() == '/a' && url('/a').getScheme() == '' && url('/a').getHost() == ''",
  "url('https://a/?x=1&x=2').getQuery()['x'] == ['1', '2'] && !isURL('../a') && !isURL('a')",
  "isSemver('1.2.3') && semver('1.2.3').isLessThan(semver('1.2.10')) && !isSemver('v1.2.3') && !isSemver('1.2')",
  "semver('1.0.0-rc.2').compareTo(semver('1.0.0-rc.10')) == -1 && semver('1.0.0').isGreaterThan(semver('1.0.0-rc.1'))",
  "semver('1.0.0-1').isLessThan(semver('1.0.0-a')) && semver('1.0.0+a') == semver('1.0.0+b')",
  "ip.isCanonical('::1') && !ip.isCanonical('0:0::1') && ip('::1').family() == 6",
  "isSemver('v1.02', true) && !isSemver('v1.02', false) && semver('v1.02', true) == semver('1.2.0')",
  "!optional.ofNonZeroValue('').hasValue() && optional.ofNonZeroValue([1]).value() == [1]",
  "semver('1.0.0-a').isLessThan(semver('1.0.0-a.1')) && semver('1.2.3').minor() == 2",
];

for (const expression of truths) {
  test(`true: ${expression}`, () => assert.deepEqual(evaluated(expression), { value: true }));
}

/** What goes wrong when it runs. */
const failures: readonly (readonly [string, string])[] = [
  ['object.spec.missing == 3', 'no such key: missing'],
  ["object.spec.list[7].k == ''", 'index out of bounds: 7'],
  ['self.sizes[7] == 1', 'index out of bounds: 7'],
  [
    "timestamp(object.metadata.name) > timestamp('2026-01-01T00:00:00Z')",
    "type conversion error from 'string' to 'google.protobuf.Timestamp'",
  ],
  ['int(self.name) == 1', "type conversion error from 'string' to 'int'"],
  ['1 / 0 == 1', 'division by zero'],
  ['self.either < 5', 'no such overload'],
  ['oldSelf.value().size == 1', 'optional.none() dereference'],
  ["'ab'.charAt(9) == ''", 'index out of range: 9'],
  ['[1, 1].transformMapEntry(i, v, {v: i}).size() == 1', 'insert failed: key 1 already exists'],
  ['self.sizes.all(i, v, 1 / i == 1)', 'division by zero'],
  ["'a'.matches(self.name + '(')", 'error parsing regexp: missing closing ): `ab(`'],
  [
    "'%d'.format([object.metadata.name]) == ''",
    'error during formatting: decimal clause can only be used on integers, was given string',
  ],
  ['[].max() == 1', 'max called on empty list'],
  ["ip('x') == ip('::')", 'unable to parse IP address from string "x"'],
  ["cidr('::').prefixLength() == 0", 'unable to parse CIDR from string "::"'],
  ["semver('1').major() == 1", 'No Major.Minor.Patch elements found'],
];

for (const [expression, error] of failures) {
  test(`fails: ${expression}`, () => assert.deepEqual(evaluated(expression), { error }));
}

test('a program says what it yields', () => {
  const types = ['self.size', 'self.parts', 'object.spec', "'a' + 'b'", 'self.size > 1'];
  const named = types.map((expression) => {
    const compiled = compile(expression, variables);
    return 'program' in compiled ? typeName(compiled.program.type) : compiled.error;
  });
  assert.deepEqual(named, ['int', 'list(object)', 'dyn', 'string', 'bool']);
});

test('fields of a lazy object are worked out once, when they are read', () => {
  const type: CelObject = {
    kind: 'object',
    name: 'variables',
    fields: { count: 'int', broken: 'dyn' },
  };
  const lazy = { variables: type };
  let reads = 0;
  const bound = lazyObject(type, {
    count: () => BigInt(++reads),
    broken: () => {
      throw new CelError('composited variable "broken" fails to evaluate: no such key: x');
    },
  });
  const run = (expression: string): Evaluated => {
    const compiled = compile(expression, lazy);
    assert.ok('program' in compiled);
    return compiled.program.evaluate({ variables: bound });
  };
  assert.deepEqual(run('variables.count + variables.count == 2 || variables.broken'), {
    value: true,
  });
  assert.deepEqual(run('variables.broken == 1'), {
    error: 'composited variable "broken" fails to evaluate: no such key: x',
  });
  assert.equal(reads, 1);
});

test('objects may have methods', () => {
  const check: CelObject = {
    kind: 'object',
    name: 'kubernetes.authorization.Authorizer',
    fields: {},
    methods: [
      { name: 'allows', takes: ['string'], returns: 'bool', call: (_, verb) => verb === 'get' },
    ],
  };
  const compiled = compile("authorizer.allows('get') && !authorizer.allows('list')", {
    authorizer: check,
  });
  assert.ok('program' in compiled, JSON.stringify(compiled));
  assert.deepEqual(compiled.program.evaluate({ authorizer: lazyObject(check, {}) }), {
    value: true,
  });
});
