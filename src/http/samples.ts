/** Ids and times of the examples in the OpenAPI document: the same object has the same id in each of them. */
export const SAMPLE = {
  key: 'key_01kc5r3xm8q2v7n4t9w6y1z0ab',
  project: 'prj_01kc5q8h2d4f6g9j3k5m7n8p0q',
  user: 'usr_01kc5q7a1b3c5d7e9f2g4h6j8k',
  session: 'ses_01kc5qa9s8d7f6g5h4j3k2m1n0',
  challenge: 'chl_01kc5q9z8y7x6w5v4t3s2r1q0p',
  connection: 'con_01kc5rb2c4d6e8f0g1h3j5k7m9t',
  secret: 'sec_01kc5rb2c4n6p8q0r1s3t5v7w9',
  event: 'evt_01kc5s4t6v8w0x1y3z5a7b9c2d',
  replay: 'rpl_01kc5t7w9x1y3z5a8b0c2d4e6f',
  audit: 'aud_01kc5r3xm9a1b3c5d7e9f1g3h5',
  request: 'req_01kc5v8x0y2z4a6b8c1d3e5f7g',
  subscription: 'sub_1QZ4kLJ2eZvKYlo2',
  invoice: 'in_1QZ4kMJ2eZvKYlo2',
  paymentMethod: 'pm_1QZ4kKJ2eZvKYlo2',
  customer: 'cus_RYsBz1f8kq',
  vendorEvent: 'evt_1QZ4kNJ2eZvKYlo2',
  email: 'ada@example.com',
  time: '2026-11-21T08:47:00.123Z',
  later: '2026-11-21T08:47:00.456Z',
  end: '2027-11-21T00:00:00.000Z',
  cursor: 'NGY2ZTFkMjBrZXlfMDFrYzVyM3htOHEydjduNHQ5dzZ5MXowYWI',
} as const

/** What a path parameter names, and an example, by the segment before it. */
export const PATH_PARAMETERS: Record<string, { description: string; example: string }> = {
  'api-keys': { description: 'The id of the API key.', example: SAMPLE.key },
  projects: { description: 'The id of the project.', example: SAMPLE.project },
  sessions: { description: 'The id of the session.', example: SAMPLE.session },
  connections: { description: 'The id of the connection.', example: SAMPLE.connection },
  secrets: { description: 'The id of the signing secret.', example: SAMPLE.secret },
  webhooks: { description: 'The id of the event.', example: SAMPLE.event },
  replays: { description: 'The id of the replay.', example: SAMPLE.replay },
  subscriptions: { description: "The vendor's id of the subscription.", example: SAMPLE.subscription },
  invoices: { description: "The vendor's id of the invoice.", example: SAMPLE.invoice },
  'payment-methods': { description: "The vendor's id of the payment method.", example: SAMPLE.paymentMethod },
  ingest: { description: 'The id of the connection.', example: SAMPLE.connection },
}
