import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { flagField, named, timestamp } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { read } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { query } from '../http/validate'
import { iso, isoOrNull } from '../lib/time'
import type { NoticeRow } from './mails'
import { kindsFor, listNotices } from './read'
import { NOTICE_KINDS } from './schema'
import { noticeWords } from './words'

const KindName = named('NoticeKind', z.enum(NOTICE_KINDS))

const Notice = named(
  'Notice',
  z.object({
    id: z.string().describe('A new one each time that the notice is opened.'),
    kind: KindName.describe('Kinds may be added, so expect others too.'),
    object_id: z.string().describe('The API key, device, connection or webhook endpoint that it is about.'),
    title: z.string(),
    description: z.string(),
    facts: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()]))
      .describe('What is known of the matter. Which facts there are depends on the kind.'),
    opened_at: timestamp,
    closed_at: timestamp.nullable().describe('When the matter was over, to the hour. Null while the notice is open.'),
    mailed_at: timestamp.nullable().describe('When the last email about it was sent.'),
  }),
  {
    id: SAMPLE.notice,
    kind: 'connection_degraded',
    object_id: SAMPLE.connection,
    title: 'A connection refuses every delivery',
    description:
      'The connection Stripe refused 20 deliveries in 15 minutes, and accepted none. Check its signing secrets.',
    facts: { name: 'Stripe', refused: 20 },
    opened_at: SAMPLE.time,
    closed_at: null,
    mailed_at: SAMPLE.later,
  },
)

export const noticeRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'listNotices',
    summary: 'List the notices of the project',
    description:
      'Problems that need attention: exposed and expiring API keys, failing connections and webhook endpoints, and events whose format has changed. The most recently opened come first. You only see notices about objects that your scopes can read.',
    tag: 'Notices',
    policy: { actors: ['session', 'api_key'], scope: null, project: true },
    responses: { 200: { description: 'A page of notices.', schema: listOf(Notice) } },
  }),
  query(
    z.strictObject({
      ...pageFields,
      open: flagField.optional().describe('Only those that are open, or only those that are closed.'),
      kind: KindName.optional(),
    }),
  ),
  async (c) => {
    const actor = c.get('actor')
    const asked = c.req.valid('query')
    const list = paging('notices', asked)
    const kinds = kindsFor(actor.scopes).filter((kind) => asked.kind === undefined || kind === asked.kind)
    const page = { open: asked.open, kinds, before: list.before, take: list.take }
    const { rows } = await read(c, { rows: listNotices(c.get('rt').db, projectOf(actor), page) })
    return answer(c, list.page(rows, present), 200)
  },
)

function present(row: NoticeRow): z.infer<typeof Notice> {
  const { title, says } = noticeWords(row)
  return {
    id: row.id,
    kind: row.kind,
    object_id: row.object_id,
    title,
    description: says,
    facts: row.facts,
    opened_at: iso(row.opened_at),
    closed_at: isoOrNull(row.closed_at),
    mailed_at: isoOrNull(row.mailed_at),
  }
}
