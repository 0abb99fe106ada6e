import { DAY, HOUR } from '../../../lib/time'
import { pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { BothModes } from '../../ui/both-modes'
import { LagChart } from '../../ui/chart/lag-chart'
import type { Series } from '../../ui/chart/words'
import { sentence } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head, live } from '../../ui/parts'
import { type HealthFound, HealthGlance } from './glance'
import { placeOfFinding } from './places'

/** The time ranges of the chart, with the bucket size for each. */
export const RANGES = {
  '1h': { label: '1 hour', ms: HOUR, bucket: '1m' },
  '6h': { label: '6 hours', ms: 6 * HOUR, bucket: '5m' },
  '24h': { label: '24 hours', ms: DAY, bucket: '1h' },
  '7d': { label: '7 days', ms: 7 * DAY, bucket: '1h' },
} as const
export type Range = keyof typeof RANGES

/** The range that the address asks for; the last hour by default. */
export function askedRange(asked = ''): Range {
  return Object.hasOwn(RANGES, asked) ? (asked as Range) : '1h'
}

type Props = HealthFound & { c: Visit; lag: Series; range: Range }

/** The events of a time range with their lag, and the current health of the pipeline. Both update themselves. */
export function healthPage(props: Props) {
  const { c, health, findings, failed, attention, range } = props
  const here = `${pathsOf(c).health}?range=${range}`
  return show(
    c,
    { title: 'Health', section: 'health' },
    <>
      <div id="verdict" {...live('verdict', here, '10s')}>
        <Verdict c={c} health={health} findings={findings} />
      </div>
      <BothModes c={c}>Events and connections</BothModes>
      <Chart {...props} here={here} />
      <div id="health" {...live('health', here, '10s')}>
        <HealthGlance c={c} health={health} failed={failed} attention={attention} />
      </div>
    </>,
  )
}

/** The status, and everything that is wrong, each with a link to where it can be fixed. */
function Verdict({ c, health: { status }, findings }: Pick<Props, 'c' | 'health' | 'findings'>) {
  return (
    <>
      <Head
        title={
          <>
            Health <Badge of={status === 'ok' ? 'healthy' : status} />
          </>
        }
      />
      {findings.length === 0 && <p class="quiet">Events are received and processed normally.</p>}
      {findings.map((finding) => {
        const place = placeOfFinding(c, finding)
        return (
          <p class={`warning ${finding.failing ? 'bad' : ''}`}>
            {sentence(finding.reason)} {place && <a href={place[1]}>{place[0]}</a>}
          </p>
        )
      })}
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
