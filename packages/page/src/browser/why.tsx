// The panel about the chosen point of the chart, in the words of the JSON.
import { useEffect, useRef } from 'preact/hooks';
import type { ChartState } from './state.ts';

const shownMax = 100;

export function Why({ state }: { readonly state: ChartState }) {
  const chosen = state.chosen.value;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  if (!chosen) return null;
  const { title, abouts } = chosen;
  return (
    <aside class="why" aria-label="Why">
      <header>
        <h2 ref={heading}>{title}</h2>
        <button
          type="button"
          onClick={() => {
            state.chosen.value = null;
          }}
        >
          Close
        </button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard. */}
      <section class="abouts" tabIndex={0} aria-label={`What happened: ${title}`}>
        {abouts.length === 0 && <p>Nothing happens here.</p>}
        {abouts.slice(0, shownMax).map((about) => (
          <article key={`${about.at} ${about.title}`}>
            <h3>
              <button
                type="button"
                onClick={() => {
                  state.pinned.value = about.at;
                }}
              >
                {state.clock(about.at)}
              </button>{' '}
              {about.title}
            </h3>
            {about.lines && <p class="lines">{about.lines.join('\n')}</p>}
            <dl>
              {about.facts.map(([term, text]) => (
                <div key={term}>
                  <dt>{term}</dt>
                  <dd>{text}</dd>
                </div>
              ))}
            </dl>
          </article>
        ))}
        {abouts.length > shownMax && <p>and {abouts.length - shownMax} more</p>}
      </section>
    </aside>
  );
}
