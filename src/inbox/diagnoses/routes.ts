import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { listOf, pageFields, paging } from '../../http/page'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { query } from '../../http/validate'
import { requireFound } from '../../lib/fault'
import { findConnection } from '../connections/connection'
import { Diagnosis, presentDiagnosis } from './fields'
import { MAX_DIAGNOSES } from './limits'
import { type DiagnosisRow, listDiagnoses } from './store'

export const diagnosisRoutes = new Hono<HttpEnv>().get(
  '/:id/diagnoses',
  route({
    id: 'listDiagnoses',
    summary: 'See why deliveries were refused',
    description: `The newest comes first. At most one refused delivery of a connection is diagnosed every ten seconds, after the response. The last ${MAX_DIAGNOSES} diagnoses are kept for seven days, and the last one of each verdict is among them. Bodies are not kept.`,
    tag: 'Billing connections',
    policy: { actors: ['session', 'api_key'], scope: 'connections:read', project: true, reads: true },
    responses: { 200: { description: 'A page of diagnoses.', schema: listOf(Diagnosis) } },
    faults: ['not_found'],
  }),
  query(z.strictObject(pageFields)),
  async (c) => {
    const { db } = c.get('rt')
    const connection = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
    const list = paging(`diagnoses:${connection.id}`, c.req.valid('query'), ({ at }: DiagnosisRow) => String(at))
    const before = list.before === null ? null : Number(list.before)
    const { connections, rows } = await read(c, {
      connections: findConnection(db, connection.project_id, connection.id),
      rows: listDiagnoses(db, connection, before, list.take),
    })
    requireFound(connections, 'Connection')
    return answer(c, list.page(rows, presentDiagnosis), 200)
  },
)
