export type SsoReason = 'provider_unreachable'

export class SsoError extends Error {
  override readonly name = 'SsoError'
  constructor(
    readonly reason: SsoReason,
    readonly detail: string | null = null,
  ) {
    super(detail ?? reason)
  }
}
