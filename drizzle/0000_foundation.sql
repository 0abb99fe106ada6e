CREATE TABLE `api_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`name` text NOT NULL,
	`key_prefix` text NOT NULL,
	`hash` text NOT NULL,
	`scopes` text NOT NULL,
	`expires_at` integer,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`last_used_at` integer,
	`revoked_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `api_keys_hash` ON `api_keys` (`hash`);--> statement-breakpoint
CREATE INDEX `api_keys_live` ON `api_keys` (`project_id`,`id`) WHERE revoked_at IS NULL;--> statement-breakpoint
CREATE TABLE `attempts` (
	`event_id` text NOT NULL,
	`number` integer NOT NULL,
	`trigger` text NOT NULL,
	`actor` text,
	`started_at` integer NOT NULL,
	`finished_at` integer NOT NULL,
	`outcome` text NOT NULL,
	`error` text,
	PRIMARY KEY(`event_id`, `number`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `audit_log` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`actor_type` text NOT NULL,
	`actor_id` text NOT NULL,
	`action` text NOT NULL,
	`object_type` text NOT NULL,
	`object_id` text NOT NULL,
	`request_id` text NOT NULL,
	`details` text,
	PRIMARY KEY(`project_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `connections` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`name` text NOT NULL,
	`livemode` integer DEFAULT 1 NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`secrets` text NOT NULL,
	`secrets_used` text DEFAULT '{}' NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `connections_project` ON `connections` (`project_id`,`id`);--> statement-breakpoint
CREATE TABLE `events` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`connection_id` text NOT NULL,
	`vendor_event_id` text NOT NULL,
	`event_type` text NOT NULL,
	`occurred_at` text,
	`payload_id` text NOT NULL,
	`status` text NOT NULL,
	`due_at` integer,
	`next_attempt_at` integer,
	`lease_token` text,
	`lease_until` integer,
	`attempts` integer DEFAULT 0 NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`deliveries` integer DEFAULT 1 NOT NULL,
	`last_delivered_at` integer NOT NULL,
	`processed_at` integer,
	`last_error` text,
	`replay_id` text,
	`summary` text,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "events_status" CHECK("events"."status" IN ('received','processing','retrying','queued','processed','ignored','failed')),
	CONSTRAINT "events_due" CHECK(("events"."due_at" IS NULL) = ("events"."status" IN ('processed','ignored','failed')))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `events_dedupe` ON `events` (`connection_id`,`vendor_event_id`);--> statement-breakpoint
CREATE INDEX `events_type` ON `events` (`project_id`,`event_type`,`id`);--> statement-breakpoint
CREATE INDEX `events_connection` ON `events` (`connection_id`,`id`);--> statement-breakpoint
CREATE INDEX `events_open` ON `events` (`project_id`,`due_at`) WHERE due_at IS NOT NULL;--> statement-breakpoint
CREATE INDEX `events_final` ON `events` (`project_id`,`status`,`id`) WHERE due_at IS NULL;--> statement-breakpoint
CREATE INDEX `events_trouble` ON `events` (`project_id`,`id`) WHERE attempts > 1 OR last_error IS NOT NULL;--> statement-breakpoint
CREATE TABLE `members` (
	`project_id` text NOT NULL,
	`user_id` text NOT NULL,
	`role` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `user_id`),
	CONSTRAINT "members_role" CHECK("members"."role" IN ('owner','admin','developer','viewer'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `members_user` ON `members` (`user_id`,`project_id`);--> statement-breakpoint
CREATE TABLE `minutes` (
	`project_id` text NOT NULL,
	`minute` integer NOT NULL,
	`connection_id` text NOT NULL,
	`received` integer DEFAULT 0 NOT NULL,
	`duplicates` integer DEFAULT 0 NOT NULL,
	`refused` text DEFAULT '{}' NOT NULL,
	`processed` integer DEFAULT 0 NOT NULL,
	`ignored` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`lag` text DEFAULT '{}' NOT NULL,
	`lag_sum` integer DEFAULT 0 NOT NULL,
	`lag_max` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_id`, `minute`, `connection_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `payloads` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`body` text NOT NULL,
	`headers` text,
	PRIMARY KEY(`project_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `projects` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `refs` (
	`project_id` text NOT NULL,
	`ref` text NOT NULL,
	`event_id` text NOT NULL,
	PRIMARY KEY(`project_id`, `ref`, `event_id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `replays` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`actor` text NOT NULL,
	`event_id` text,
	`filter` text,
	`queued` integer NOT NULL,
	PRIMARY KEY(`project_id`, `id`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `retired_secrets` (
	`hash` text PRIMARY KEY NOT NULL,
	`key_id` text NOT NULL,
	`retired_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`last_used_at` integer NOT NULL,
	`user_agent` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_hash` ON `sessions` (`hash`);--> statement-breakpoint
CREATE INDEX `sessions_user` ON `sessions` (`user_id`,`id`);--> statement-breakpoint
CREATE TABLE `sign_in_codes` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`code_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	`tries` integer DEFAULT 0 NOT NULL,
	`used_by` text
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `sign_in_codes_email` ON `sign_in_codes` (`email`,`created_at`);--> statement-breakpoint
CREATE TABLE `state` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `totals` (
	`project_id` text NOT NULL,
	`status` text NOT NULL,
	`n` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`project_id`, `status`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`email` text NOT NULL,
	`created_at` integer NOT NULL
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`email`);