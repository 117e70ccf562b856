import process from 'node:process';
import { loadKubeconfig } from '@taintmgr/k8s-adapter';
import { explainNode } from '@taintmgr/k8s-adapter/explain';

const [name = 'node-1'] = process.argv.slice(2);
const { access } = await loadKubeconfig();
const { document, notes } = await explainNode(access, name);

for (const pod of document.pods ?? []) {
  const [reason] = pod.because;
  const when = pod.deadline === undefined ? '' : ` at ${pod.deadline}`;
  console.log(`${pod.namespace}/${pod.name}: ${pod.decision}${when}: ${reason?.text}`);
  for (const { message } of pod.blockers) console.log(`  ${message}`);
}
console.log(`evicted by ${document.evictor.name} (${document.evictor.source})`);
// Rights that are missing, budgets that never let go, times that are estimates.
for (const text of [...notes.warnings, ...notes.notes]) console.error(text);
