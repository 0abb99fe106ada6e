CREATE TABLE `domains` (
	`project_id` text NOT NULL,
	`id` text NOT NULL,
	`hostname` text NOT NULL,
	`purpose` text NOT NULL,
	`state` text NOT NULL,
	`state_since` integer NOT NULL,
	`token` text NOT NULL,
	`absent` integer DEFAULT 0 NOT NULL,
	`absent_since` integer,
	`evidence` text,
	`serving` integer,
	`serving_at` integer,
	`serving_detail` text,
	`verified_at` integer,
	`checked_at` integer,
	`next_check_at` integer,
	`grace_until` integer,
	`created_by` text NOT NULL,
	`created_at` integer NOT NULL,
	`version` integer NOT NULL,
	PRIMARY KEY(`project_id`, `id`),
	CONSTRAINT "domains_purpose" CHECK("domains"."purpose" IN ('sso', 'surface')),
	CONSTRAINT "domains_state" CHECK("domains"."state" IN ('pending', 'verified', 'grace', 'failed', 'released')),
	CONSTRAINT "domains_next_check" CHECK(("domains"."next_check_at" IS NULL) = ("domains"."state" IN ('failed', 'released'))),
	CONSTRAINT "domains_grace_until" CHECK(("domains"."grace_until" IS NULL) = ("domains"."state" <> 'grace')),
	CONSTRAINT "domains_evidence" CHECK(octet_length("domains"."evidence") <= 4096)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `domains_name` ON `domains` (`project_id`,`purpose`,`hostname`) WHERE state <> 'released';--> statement-breakpoint
CREATE UNIQUE INDEX `domains_surface` ON `domains` (`hostname`) WHERE purpose = 'surface' AND state IN ('verified', 'grace');--> statement-breakpoint
CREATE INDEX `domains_held` ON `domains` (`hostname`,`purpose`) WHERE state IN ('verified', 'grace');--> statement-breakpoint
CREATE INDEX `domains_due` ON `domains` (`next_check_at`) WHERE next_check_at IS NOT NULL;