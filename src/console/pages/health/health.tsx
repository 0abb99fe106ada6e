import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import { Badge } from '../../ui/badge'
import { LagChart } from '../../ui/chart/lag-chart'
import type { Series } from '../../ui/chart/words'
import { sentence } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, live } from '../../ui/parts'
import { Glance, type Health } from './glance'
import { RANGES, type Range } from './ranges'

type Props = { c: Context<HttpEnv>; health: Health; lag: Series; range: Range }

/** The events of a time range with their lag, and the current health of the pipeline. Both update themselves. */
export function healthPage(props: Props) {
  const { c, health, range } = props
  const here = `${pathsOf(c).health}?range=${range}`
  return show(
    c,
    { title: 'Health', section: 'health' },
    <>
      <div id="verdict" {...live('verdict', here, '10s')}>
        <Verdict health={health} />
      </div>
      <Chart {...props} here={here} />
      <div id="health" {...live('health', here, '10s')}>
        <Glance c={c} health={health} />
      </div>
    </>,
  )
}

/** The status, with the reasons for it. */
function Verdict({ health: { status, reasons } }: { health: Health }) {
  return (
    <>
      <Head
        title={
          <>
            Health <Badge of={status} />
          </>
        }
      />
      {reasons.length === 0 && <p class="quiet">Events are received and processed normally.</p>}
      {reasons.map((reason) => (
        <p class={`warning ${status === 'failing' ? 'bad' : ''}`}>{sentence(reason)}</p>
      ))}
    </>
  )
}

/** The chart is not replaced while somebody reads it. */
function Chart({ lag, range, here }: Props & { here: string }) {
  return (
    <div id="lag" {...live('lag', here, '60s')} data-hold>
      <nav class="choices" aria-label="Range">
        {Object.entries(RANGES).map(([name, { label }]) => (
          <a href={`?range=${name}`} aria-current={name === range ? 'true' : undefined}>
            {label}
          </a>
        ))}
      </nav>
      <LagChart series={lag} label={RANGES[range].label} />
    </div>
  )
}
