// Of an answer to what-if: the way back to the page that asked, and the same for a terminal.
import type { WhatIfOrigin } from '../simulation.ts';

export function Asked({ asked: { address, command } }: { readonly asked: WhatIfOrigin }) {
  return (
    <p class="about">
      What if, played in a copy of the cluster; <a href={address}>back to the cluster as it is</a>.
      The same in a terminal: <code>{command}</code>
    </p>
  );
}
