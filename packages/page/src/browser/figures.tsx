// The figures that a page begins with, side by side: those of each variant, or of one alone.
import type { Headline } from '../model/headline.ts';

export function Figures({ headline: { caption, figures } }: { readonly headline: Headline }) {
  if (figures.length === 0) return null;
  return (
    <section class="headline" aria-label={caption}>
      <p class="about">{caption}</p>
      <div class="figures">
        {figures.map(({ variant, time, difference, details }, index) => (
          <div key={variant} class="figure">
            {index > 0 && figures.length === 2 && (
              <span class="arrow" aria-hidden="true">
                →
              </span>
            )}
            <div>
              {variant !== null && <p class="whose">{variant}</p>}
              <p class="big">
                {time} {difference !== '' && <span class="difference">{difference}</span>}
              </p>
              {details.map(([number, text]) => (
                <p key={text}>
                  <b>{number}</b> {text}
                </p>
              ))}
            </div>
          </div>
        ))}
      </div>
    </section>
  );
}
