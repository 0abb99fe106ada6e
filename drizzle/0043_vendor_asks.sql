CREATE TABLE `vendor_asks` (
	`project_id` text NOT NULL,
	`vendor` text NOT NULL,
	`kind` text NOT NULL,
	`object_id` text NOT NULL,
	`lease_token` text,
	`lease_until` integer DEFAULT 0 NOT NULL,
	`done_at` integer,
	`ended` text,
	`used_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `vendor`, `kind`, `object_id`)
) WITHOUT ROWID;
