/** The statuses of a billing webhook event; `webhooks/lifecycle.ts` says what each means and how it is left. */
export const STATUSES = ['received', 'processing', 'retrying', 'queued', 'processed', 'ignored', 'failed'] as const
export type Status = (typeof STATUSES)[number]

/** Statuses that nothing but a replay leaves. */
export const FINAL_STATUSES = ['processed', 'ignored', 'failed'] as const satisfies readonly Status[]
