ALTER TABLE `sso_codes` ADD `code_challenge` text;--> statement-breakpoint
ALTER TABLE `sso_logins` ADD `code_challenge` text;--> statement-breakpoint
ALTER TABLE `sso_logins` ADD `agreed_by` text;