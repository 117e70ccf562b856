// Everything that the package offers, by name: a new name, or one that is gone, is on purpose.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import * as door from '../src/index.ts';

const values = `
  ApiError ApiServer Cluster RealClock
  TaintManagerStandIn VirtualClock bringToRest callOverHttps createCertificate daemonSet defaultTiming deployment encodeFrame
  encodeObject evictionDefinition evictionRequestDefinition hasUnreadyContainers installDefinitions isShallow job kubeconfigText 
  namespace node pdb pod
  seededRandom serviceAccountUser startEmbedded startHttps statefulSet taint threeZones
  toleration topologies topologyObjects withSystemPods writeKubeconfig`;

const types = `
  Access Amount ApiRequest ApiServerOptions AttachTiming CallWebhook Cause Certificate CertificateSubject Change Clock
  ClusterApi ClusterOptions ClusterPart Decision DeleteOptions Denial DialNode DialedRequest
  EmbeddedCluster EmbeddedOptions Exchange Fault FaultRule Faults Growth HttpsOptions
  HttpsServer Json KubeObject KubeconfigOptions Kubelet KubeletTiming LoadReport
  Machine NodeConditionType NodeDescription NodeStats NodeUsage ObjectMeta OwnerReference
  PodEnd PodTiming PodUsage Random RangeMs 
  ReportBug ResponseSink RestingCluster Right Rule ServiceTime StatsFault Status StatusDetails Summary
  TaintManagerOptions TimedToleration Timer Tokens Topology Unloaded User 
  WebhookCall WebhookOutcome WorkloadOptions`;

it('the package offers exactly these values and types', () => {
  const source = readFileSync(new URL('../src/index.ts', import.meta.url), 'utf8');
  assert.deepEqual(Object.keys(door).sort(), words(values));
  assert.deepEqual(exportedTypes(source), words(types));
});

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

/** The types in the door's export lists: those of `export type {}`, and each `type` in the others. */
function exportedTypes(source: string): readonly string[] {
  const lists = Array.from(source.matchAll(/export (type )?\{([^}]*)\}/g));
  const types = lists.flatMap(([, isTypes, list = '']) => {
    const names = list.split(',').map((name) => name.trim());
    const typed = names.filter((name) => name !== '' && (isTypes || name.startsWith('type ')));
    return typed.map((name) => name.replace(/^type /, ''));
  });
  return types.sort();
}
