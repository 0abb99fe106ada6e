import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { LagChart } from '../../ui/chart/lag-chart'
import type { Series } from '../../ui/chart/words'
import { show } from '../../ui/layout'
import { live } from '../../ui/parts'
import { Glance, type Health } from './glance'
import { RANGES, type Range } from './ranges'

/** The current health of the pipeline, which updates itself, and the lag over a time range. */
export function healthPage(c: Context<HttpEnv>, health: Health, lag: Series, range: Range) {
  return show(
    c,
    { title: 'Health', section: 'health' },
    <>
      <div id="health" {...live('health', `${pathsOf(c).health}?range=${range}`, '10s')}>
        <Glance c={c} health={health} />
      </div>
      <h2 id="lag">Lag from receipt to completion</h2>
      <nav class="choices" aria-label="Range">
        {Object.entries(RANGES).map(([name, { label }]) => (
          <a href={`?range=${name}#lag`} aria-current={name === range ? 'true' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <LagChart series={lag} label={RANGES[range].label} />
    </>,
  )
}
