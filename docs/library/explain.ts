import process from 'node:process';
import { ApiError, loadKubeconfig } from '@taintmgr/k8s-adapter';
import { explainNode, explainWorkload } from '@taintmgr/k8s-adapter/explain';

const [node] = process.argv.slice(2);
const { access, namespace } = await loadKubeconfig();
const asked = node
  ? explainNode(access, node)
  : explainWorkload(access, { kind: 'StatefulSet', namespace, name: 'db' });
const { document, notes } = await asked.catch((error: unknown) => {
  if (!(error instanceof ApiError)) throw error;
  console.error(error.message);
  process.exit(1);
});

for (const pod of document.pods ?? []) {
  const [reason] = pod.because;
  const when = pod.deadline === undefined ? '' : ` at ${pod.deadline}`;
  console.log(`${pod.name} on ${pod.node}: ${pod.decision}${when}: ${reason?.text}`);
  for (const { message } of pod.blockers) console.log(`  ${message}`);
}
console.log(`evicted by ${document.evictor.name} (${document.evictor.source})`);
for (const text of [...notes.warnings, ...notes.notes]) console.error(text);
