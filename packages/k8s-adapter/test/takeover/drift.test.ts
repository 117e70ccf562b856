import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installedOptions, takeoverDrift } from '../../src/takeover/drift.ts';
import { takeoverManifests } from '../../src/takeover/manifests.ts';
import { VetoWorld } from './veto-world.ts';

const [policy, , binding] = takeoverManifests({ manager: 'taintmgr', users: ['u'] });
assert.ok(policy && binding);

/** What is said of a policy, or a binding, that was changed like this. */
function said(change: (spec: Record<string, unknown>) => void, wanted = policy): readonly string[] {
  assert.ok(wanted);
  const live = structuredClone(wanted) as { spec: Record<string, unknown> };
  change(live.spec);
  return takeoverDrift(live, wanted).map(({ text }) => text);
}

describe('drift', () => {
  it('is none in what the API server made of the policies', () => {
    const { cluster } = new VetoWorld();
    const user = 'system:serviceaccount:taintmgr-system:taintmgr-controller';
    for (const wanted of takeoverManifests({ manager: 'taintmgr', users: [user] })) {
      const isPolicy = wanted.kind === 'ValidatingAdmissionPolicy';
      const plural = isPolicy ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
      const live = cluster.api.get(plural, '', wanted.metadata.name);
      assert.deepEqual(takeoverDrift(live, wanted), []);
    }
  });

  it('names what is missing', () => {
    const text = 'validatingadmissionpolicy/taintmgr-takeover is missing';
    assert.deepEqual(
      takeoverDrift(null, policy).map((one) => one.text),
      [text],
    );
  });

  const named = 'validatingadmissionpolicy/taintmgr-takeover';
  const cases: readonly [string, (spec: Record<string, unknown>) => void, string][] = [
    [
      'a value',
      (spec) => {
        spec.failurePolicy = 'Fail';
      },
      `${named}: spec.failurePolicy is "Fail", not "Ignore"`,
    ],
    [
      'what was taken away',
      (spec) => {
        delete spec.paramKind;
      },
      `${named}: spec.paramKind is missing, not {"apiVersion":"taintmgr.dev/v1alpha1","kind":"TaintManager"}`,
    ],
    [
      'what narrows it',
      (spec) => {
        const rules = [{ resources: ['pods/status'] }];
        Object.assign(spec.matchConstraints ?? {}, { excludeResourceRules: rules });
      },
      `${named}: spec.matchConstraints.excludeResourceRules is [{"resources":["pods/status"]}], and should not be there`,
    ],
  ];
  for (const [name, change, text] of cases) {
    it(`names ${name}`, () => assert.deepEqual(said(change), [text]));
  }

  it('names one expression of a list', () => {
    const [text, ...more] = said((spec) => {
      spec.validations = [{ expression: 'true', messageExpression: 'x', reason: 'Forbidden' }];
    });
    assert.match(
      text ?? '',
      /spec.validations\[0\].expression is "true", not "!\(variables.fresh && variables.ours\)"$/,
    );
    assert.equal(more.length, 1);
    assert.match(
      more[0] ?? '',
      /messageExpression is "x", not "'taintmgr decides about this pod; /,
    );
  });

  it('names a list that is longer as a whole', () => {
    const [text] = said((spec) => {
      spec.validationActions = ['Audit', 'Warn'];
    }, binding);
    assert.match(text ?? '', /spec.validationActions is \["Audit","Warn"\], not \["Deny"\]$/);
  });

  it('names another version of the content', () => {
    const live = structuredClone(policy);
    const metadata = { ...live.metadata, annotations: {} };
    assert.deepEqual(
      takeoverDrift({ ...live, metadata }, policy).map((one) => one.text),
      [`${named}: metadata.annotations[taintmgr.dev/takeover-version] is missing, not "4"`],
    );
  });

  it('the installed ones say for whom they were made', () => {
    const options = { manager: 'taintmgr', users: ['a"b', "c'd\\"] };
    const [one, , two] = takeoverManifests(options);
    assert.deepEqual(installedOptions(one, two), options);
    assert.equal(installedOptions(one, null), null);
    assert.equal(
      installedOptions({ spec: { matchConditions: [{ expression: 'true' }] } }, two),
      null,
    );
  });

  it('is none in what is empty', () => {
    const change = (spec: Record<string, unknown>): void => {
      delete Object(spec.matchConstraints).objectSelector;
      spec.auditAnnotations = [];
    };
    assert.deepEqual(said(change), []);
  });
});
