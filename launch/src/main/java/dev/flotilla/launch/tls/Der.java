package dev.flotilla.launch.tls;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/** The encoding of certificates (ITU-T X.690), of what is shorter than 64 KiB. */
final class Der {

  private Der() {}

  /** Returns a tag, a length and what follows them. */
  static byte[] of(int tag, byte[]... parts) {
    var content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    int length = content.size();
    var out = new ByteArrayOutputStream();
    out.write(tag);
    if (length > 0xff) {
      out.write(0x82);
      out.write(length >> 8);
    } else if (length > 0x7f) {
      out.write(0x81);
    }
    out.write(length);
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  static byte[] ascii(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }
}
