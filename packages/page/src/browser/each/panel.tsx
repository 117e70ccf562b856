// The panel about one loss: the workloads that it harms, the time, the budget that breaks, and the pods
// without room.
import { useEffect, useRef } from 'preact/hooks';
import type { EachPageInput, Loss, LossWorkload } from '../../each.ts';
import {
  aloneCommand,
  budgetFacts,
  type Fact,
  harmText,
  isRest,
  limitFacts,
  lossFacts,
  lossKey,
  lossText,
  partOf,
  workloadFacts,
  worstFirst,
} from '../../model/losses.ts';
import { count } from '../../model/words.ts';
import { shortName, workloadKey } from '../../model/workloads.ts';
import { closePanel, type EachState } from './state.ts';

/** The number of workloads that are named. */
const shownMax = 10;

export function LossPanel({ state }: { readonly state: EachState }) {
  const { input, chosen } = state;
  const heading = useRef<HTMLHeadingElement>(null);
  const loss = input.losses.find((one) => lossKey(one) === chosen.value?.loss);
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen.value]);
  if (!chosen.value || !loss) return null;
  const { column } = chosen.value;
  const own = loss.workloads.find((one) => workloadKey(one) === column);
  const text = lossText(input, loss);
  const title = text.charAt(0).toUpperCase() + text.slice(1);
  return (
    <aside class="why" aria-label="Why">
      <header>
        <h2 ref={heading}>{title}</h2>
        <button type="button" onClick={() => closePanel(state)}>
          Close
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section class="abouts" tabIndex={0} aria-label={`What comes of ${text}`}>
        {own && <About title={shortName(own)} facts={workloadFacts(own)} />}
        <About title="In all" facts={lossFacts(input, loss)} />
        {loss.budgets.length > 0 && <About title="Budgets" facts={budgetFacts(loss)} isWide />}
        {loss.limits && <About title="Limits" facts={limitFacts(loss)} isWide />}
        <Hurt loss={loss} />
        <Alone input={input} loss={loss} />
      </section>
    </aside>
  );
}

interface AboutProps {
  readonly title: string;
  readonly facts: readonly Fact[];
  /** True if the terms are names, which need a line of their own. */
  readonly isWide?: true;
}

function About({ title, facts, isWide }: AboutProps) {
  return (
    <article>
      <h3>{title}</h3>
      <dl class={isWide ? 'names' : ''}>
        {facts.map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </article>
  );
}

function Hurt({ loss: { workloads } }: { readonly loss: Loss }) {
  if (workloads.length === 0) return null;
  const more = workloads.length - shownMax;
  const facts = worstFirst(workloads).slice(0, shownMax).map(hurtFact);
  return (
    <>
      <About title={`Affected: ${count(workloads.length, 'workload')}`} facts={facts} isWide />
      {more > 0 && <p class="about">and {more} more</p>}
    </>
  );
}

function hurtFact(one: LossWorkload): Fact {
  const room = one.unplacedAtEnd > 0 ? `, no room for ${one.unplacedAtEnd} at the end` : '';
  return [shortName(one), `${harmText(one)}${room}${one.unknown ? ' ?' : ''}`];
}

/** The link to all events of this loss. */
function Alone({ input, loss }: { readonly input: EachPageInput; readonly loss: Loss }) {
  return (
    <article>
      <h3>In detail</h3>
      {input.asked && !isRest(loss.name) && (
        <p>
          <a href={askAlone(input.asked, partOf(input, loss), loss)}>Play this alone</a>
        </p>
      )}
      <p>
        <code>{aloneCommand(input, loss)}</code>
      </p>
    </article>
  );
}

/** The page that asked, asking the same for this part. */
function askAlone(
  { address, question }: NonNullable<EachPageInput['asked']>,
  where: string,
  { taint = question.taint }: Loss,
): string {
  const query = new URLSearchParams({ ...question, where, taint });
  return `${address}#${new URLSearchParams({ ask: query.toString() })}`;
}
