import { fieldsSeen, shareOf } from '../../../inbox/formats/fields'
import {
  sumOf,
  type UnknownWord,
  unknownWordsOf,
  type Vanished,
  type Version,
  vanishedIn,
  versionsOf,
} from '../../../inbox/formats/findings'
import { SHOWN_KINDS } from '../../../inbox/formats/parsed'
import type { FormatRow } from '../../../inbox/formats/schema'
import { KIND_WORDS, vanishedWords, versionWords, wordWords } from '../../../inbox/formats/words'
import { idTime } from '../../../lib/ids'
import type { StateKind } from '../../../vendors/kinds'
import { pathsOf, type Visit } from '../../page'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import type { ShownConnection } from './read'

/** Which fields events set: the two newest versions side by side. Renders nothing if nothing was counted. */
export function FormatSection({ c, of: { row, formats } }: { c: Visit; of: Pick<ShownConnection, 'row' | 'formats'> }) {
  const { now } = c.get('rt')
  const versions = versionsOf(formats)
  if (versions.length === 0) return null
  const vanished = vanishedIn(formats)
  const words = unknownWordsOf(formats, now)
  return (
    <>
      <h2 id="format">Format</h2>
      <p class="quiet">
        How many of the objects in events had a value in each field, over the last eight weeks. New events appear within
        minutes.
      </p>
      <Found c={c} connection={row.id} vanished={vanished} words={words} />
      <Table label="Versions" rows={versions} columns={versionColumns(c, formats)} />
      {SHOWN_KINDS.map((kind) => (
        <Kind kind={kind} rows={formats} versions={versions} vanished={vanished} />
      ))}
    </>
  )
}

type FoundProps = { c: Visit; connection: string; vanished: readonly Vanished[]; words: readonly UnknownWord[] }

/** The findings that need attention. */
function Found({ c, connection, vanished, words }: FoundProps) {
  if (vanished.length + words.length === 0) return null
  return (
    <section class="warning" role="note">
      <ul>
        {vanished.map((one) => (
          <li>{vanishedWords(one)}</li>
        ))}
        {words.map((one) => (
          <li>{wordWords(one)}</li>
        ))}
      </ul>
      <p>
        The vendor may have moved or renamed a field, or you may no longer use it.{' '}
        <a href={`${pathsOf(c).events}?connection_id=${connection}&status=processed`}>See the latest events</a>
      </p>
    </section>
  )
}

function versionColumns(c: Visit, rows: readonly FormatRow[]): Column<Version>[] {
  const { now } = c.get('rt')
  return [
    ['Version', ({ api_version }) => <VersionName of={api_version} />],
    ['First', ({ first_event }) => <Time at={idTime(first_event)} now={now} />],
    ['Last', ({ last_event }) => <Time at={idTime(last_event)} now={now} />],
    ['Objects', ({ events }) => events.toLocaleString('en'), 'number'],
    ['Latest events', ({ api_version }) => <ToLookAt c={c} rows={rows} version={api_version} />],
  ]
}

const VersionName = ({ of }: { of: string }) => (of === '' ? <span class="quiet">no version</span> : <code>{of}</code>)

/** The last counted event of each kind for a version. */
function ToLookAt({ c, rows, version }: { c: Visit; rows: readonly FormatRow[]; version: string }) {
  const own = rows.filter(({ api_version }) => api_version === version)
  const last = SHOWN_KINDS.flatMap((kind) => {
    const [seen] = versionsOf(own.filter((row) => row.kind === kind))
    return seen ? [{ kind, id: seen.last_event }] : []
  })
  return (
    <span class="wrapped">
      {last.map(({ kind, id }, at) => (
        <>
          {at > 0 && ', '}
          <a href={`${pathsOf(c).events}/${id}`}>
            {KIND_WORDS[kind]}
            <span class="unseen"> of {versionWords(version)}</span>
          </a>
        </>
      ))}
    </span>
  )
}

type KindProps = {
  kind: StateKind
  rows: readonly FormatRow[]
  versions: readonly Version[]
  vanished: readonly Vanished[]
}

/** The fields of one kind. It is open if some have vanished. */
function Kind({ kind, rows, versions, vanished }: KindProps) {
  const own = rows.filter((row) => row.kind === kind)
  const gone = new Set(vanished.flatMap((one) => (one.kind === kind ? [one.field] : [])))
  const shown = versions.filter(({ api_version }) => own.some((row) => row.api_version === api_version)).slice(0, 2)
  if (shown.length === 0) return null
  const title = `${KIND_WORDS[kind].charAt(0).toUpperCase()}${KIND_WORDS[kind].slice(1)}`
  const columns: Column<string>[] = [
    ['Field', (field) => <code>{field}</code>],
    // The older version first, in reading order.
    ...shown.toReversed().map(({ api_version }): Column<string> => {
      const { events, fields } = sumOf(own, api_version)
      return [
        `${api_version === '' ? 'No version' : api_version} (${events.toLocaleString('en')})`,
        (field) => percent(fields[field] ?? 0, events),
        'number',
      ]
    }),
    ['Finding', (field) => (gone.has(field) ? <strong class="error">Vanished</strong> : '')],
  ]
  return (
    <details open={gone.size > 0}>
      <summary>
        {title}
        {gone.size > 0 && `: ${gone.size === 1 ? 'a field has' : `${gone.size} fields have`} vanished`}
      </summary>
      <Table label={`Fields of ${KIND_WORDS[kind]}`} rows={fieldsSeen(own, kind)} columns={columns} />
    </details>
  )
}

const percent = (n: number, of: number) => `${Number((100 * shareOf(n, of)).toFixed(1))} %`
