import type { TimelinePage } from '../../../inbox/timeline/read'
import { pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { Changes } from '../../ui/effects'
import { timeOf, words } from '../../ui/format'
import { Dotted, Time } from '../../ui/parts'
import { Table } from '../../ui/table'

/** `currency`: of the object's amounts. `titles`: what customers and objects are called, by their ids. */
type TimelineProps = { c: Visit; page: TimelinePage; currency: string | null; titles: ReadonlyMap<string, string> }

/** The events of an object, with the changes that each made. */
export function Timeline({ c, page: { entries, resume }, currency, titles }: TimelineProps) {
  const { events } = pathsOf(c)
  const { now } = c.get('rt')
  return (
    <>
      <h2>Timeline</h2>
      {entries.length === 0 ? (
        <p class="quiet">The events of this object are no longer stored: their retention period has ended.</p>
      ) : (
        <Table
          label="Timeline"
          rows={entries}
          columns={[
            [
              'Event',
              (entry) => (
                <>
                  <a href={`${events}/${entry.event_id}`}>
                    <Dotted>{entry.event_type}</Dotted>
                  </a>
                  {entry.differing_deliveries > 0 && <span class="quiet"> Also delivered with different content</span>}
                </>
              ),
            ],
            ['Result', (entry) => <Badge of={entry.result ?? entry.status} />],
            ['Change', (entry) => <Changes of={entry.change} currency={currency} titles={titles} />],
            ['Occurred', (entry) => entry.occurred_at && words(entry.occurred_at)],
            ['Received', (entry) => <Time at={timeOf(entry.received_at)} now={now} />],
          ]}
        />
      )}
      {resume !== null && <p class="quiet">Use the API to read older events.</p>}
    </>
  )
}
