/** What can be set for a project. */
export type Settings = {
  /** Whether admins and owners must have used a passkey or a recovery code in their session. */
  require_passkey: boolean
  /** How long a subscription that is past due still gives access (days); null: as long as the vendor says that it is past due. */
  grace_days: number | null
  /** How long a subscription gives access after its period, until the event about the renewal is here (hours). */
  renewal_slack_hours: number
  /** Whether subscriptions in a vendor's test mode give access. */
  test_mode_counts: boolean
}

/** The settings to change; the others stay. */
export type SettingsChange = { [Name in keyof Settings]?: Settings[Name] | undefined }

export const DEFAULTS: Settings = {
  require_passkey: false,
  grace_days: 7,
  renewal_slack_hours: 48,
  test_mode_counts: false,
}

/** The settings of a project, with the defaults of those that were never set. */
export function settingsOf(stored: Partial<Settings> | null): Settings {
  return { ...DEFAULTS, ...stored }
}
